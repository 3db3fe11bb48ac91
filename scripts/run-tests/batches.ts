/**
 * Which test files share a process. Those of one package stand on the same modules, and to load these is most of what a
 * small file costs. A file that is no plain `x.test.ts` starts processes or a browser or takes long: it keeps its own.
 */
export function batchesOf(files: readonly string[], most: number): readonly (readonly string[])[] {
  const batches: string[][] = [];
  for (const file of files) {
    const last = batches.at(-1);
    if (last !== undefined && last.length < most && shares(file) && shares(last[0]!) && sameRoot(file, last[0]!))
      last.push(file);
    else batches.push([file]);
  }
  return batches;
}

function shares(file: string): boolean {
  return file.endsWith(".test.ts") && !file.endsWith(".process.test.ts");
}

function sameRoot(one: string, other: string): boolean {
  return rootOf(one) === rootOf(other);
}

/** `packages/core`, `scripts`, or the folder of a file that stands elsewhere. */
function rootOf(file: string): string {
  const folders = file.split("/").slice(0, -1);
  return (folders[0] === "packages" ? folders.slice(0, 2) : folders).join("/");
}
