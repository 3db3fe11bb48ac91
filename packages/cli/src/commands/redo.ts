import { redoing } from "./undo.ts";

export const { run, remote } = redoing;
