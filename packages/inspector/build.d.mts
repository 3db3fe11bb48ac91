/** Builds the page into the folder, which is emptied first. */
export function buildPage(folder: string): Promise<void>;
