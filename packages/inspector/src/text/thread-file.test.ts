import assert from "node:assert/strict";
import { test } from "node:test";
import { artifactAddress, uploadedIn, withUploads } from "./thread-file.ts";

test("only files below the thread's own folder have an address", () => {
  const address = "/api/threads/a%20b/artifacts/outputs/x%20%3F.png";
  assert.equal(artifactAddress("a b", "/mnt/user-data/outputs/x ?.png"), address);
  for (const path of ["/etc/x.png", "/mnt/user-data/../x.png", "/mnt/user-data/", "/mnt/user-data/a//b.png", "x.png"])
    assert.equal(artifactAddress("a", path), null);
});

test("the files of a message come back as they went in, and other brackets stay words", () => {
  const paths = ["/mnt/user-data/uploads/a.png", "/mnt/user-data/uploads/b (1).txt"];
  assert.deepEqual(uploadedIn(withUploads("Look", paths)), { text: "Look", paths });
  assert.deepEqual(uploadedIn(withUploads("", paths)), { text: "", paths });
  assert.deepEqual(uploadedIn(withUploads("Look", [])), { text: "Look", paths: [] });
  for (const text of ["(Uploaded: /etc/passwd)", "x\n\n(Uploaded: /mnt/user-data/uploads/a, /etc/b)"])
    assert.deepEqual(uploadedIn(text), { text, paths: [] });
});
