export { EXPORT_FORMATS, type ExportFormat, exportThread } from "./export-thread.ts";
