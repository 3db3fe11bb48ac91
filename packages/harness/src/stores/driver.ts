/** For drivers of your own: what every driver does alike. */
export {
  assertInOrder,
  assertUser,
  hiddenButShown,
  orphaned,
  ownHeader,
  PAGE_ORDERS,
  type PageMark,
  readMark,
  storedRecord,
  summaryOf,
  titleOf,
  withoutBody,
  writeMark,
} from "./driver-rules.ts";
