// A thread's files on the real server: what comes in, what goes out, and what may not.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { threadWorkspace } from "palimpsest/home";
import { type Answered, codeOf, type Running, running, sent } from "../../test/running.ts";

interface Uploaded {
  readonly filename: string;
  readonly url: string;
  readonly path: string;
  readonly markdown: Uploaded | null;
  readonly problem: string | null;
  readonly code: string | null;
}

async function withThread(t: TestContext, config?: string): Promise<Running> {
  const at = await running(t, config === undefined ? {} : { config });
  const headers = { "content-type": "application/json" };
  await sent(at, "/api/threads", { method: "POST", body: '{"id": "t"}', headers });
  return at;
}

function upload(at: Running, form: FormData): Promise<Response> {
  const headers = { "x-palimpsest-upload": "1" };
  return fetch(`${at.url}/api/threads/t/uploads`, { method: "POST", body: form, headers });
}

function raw(at: Running, name: string, body: string): Promise<Answered> {
  const headers = { "content-type": "application/octet-stream", "x-palimpsest-upload": "1" };
  return sent(at, `/api/threads/t/uploads?name=${encodeURIComponent(name)}`, { method: "POST", body, headers });
}

async function names(at: Running): Promise<string[]> {
  const { files } = JSON.parse((await sent(at, "/api/threads/t/uploads")).text) as { files: Uploaded[] };
  return files.map(({ filename }) => filename);
}

test("a form brings files in, a web page becomes Markdown beside it, and both come back byte for byte", async (t) => {
  const at = await withThread(t);
  const bytes = new Uint8Array(200_000).map((_, index) => index % 251);
  const form = new FormData();
  form.append("file", new File(["<h1>Herons</h1><p>They wade.</p>"], "birds.html"));
  form.append("file", new File([bytes], "Zoë’s data.bin"));
  form.append("note", "not a file");
  const response = await upload(at, form);
  assert.equal(response.status, 201);
  const { files } = (await response.json()) as { files: Uploaded[] };
  assert.deepEqual(
    files.map(({ filename, markdown }) => [filename, markdown?.filename ?? null]),
    [
      ["birds.html", "birds.html.md"],
      ["Zoë’s data.bin", null],
    ],
  );
  assert.equal(files[0]!.markdown!.path, "/mnt/user-data/uploads/birds.html.md");
  const markdown = await fetch(at.url + files[0]!.markdown!.url);
  assert.equal(await markdown.text(), "# Herons\n\nThey wade.\n");
  const binary = await fetch(at.url + files[1]!.url);
  assert.deepEqual(new Uint8Array(await binary.arrayBuffer()), bytes);
  const headers = Object.fromEntries(binary.headers);
  assert.equal(headers["content-type"], "application/octet-stream");
  assert.equal(
    headers["content-disposition"],
    "attachment; filename=\"Zo__s data.bin\"; filename*=UTF-8''Zo%C3%AB%E2%80%99s%20data.bin",
  );
  assert.equal(headers["content-security-policy"], "default-src 'none'; sandbox");
  assert.equal(headers["x-content-type-options"], "nosniff");
});

test("a file is converted in a process of its own, so that none keeps the server waiting", async (t) => {
  const at = await withThread(t);
  const isApart = () => process.getActiveResourcesInfo().includes("ProcessWrap");
  assert.equal(isApart(), false);
  let [seen, isDone] = [false, false];
  const look = (): void => {
    seen ||= isApart();
    if (!isDone) setTimeout(look, 1);
  };
  look();
  const answer = await raw(at, "birds.html", "<h1>Herons</h1>");
  isDone = true;
  assert.deepEqual([answer.status, seen], [201, true]);
});

test("what a browser would run is given as bytes to be saved", async (t) => {
  const at = await withThread(t);
  for (const name of ["page.html", "picture.svg", "code.js", "doc.xml", "sheet.css", "a.swf", "noending"]) {
    assert.equal((await raw(at, name, "<script>alert(1)</script>")).status, 201, name);
    const answer = await sent(at, `/api/threads/t/artifacts/uploads/${name}`);
    assert.deepEqual([answer.status, answer.headers["content-type"]], [200, "application/octet-stream"], name);
    assert.match(String(answer.headers["content-disposition"]), /^attachment/);
  }
});

test("names that lead out, hide, or mean something to a system are refused, and nothing is written", async (t) => {
  const at = await withThread(t);
  for (const name of [
    "../up.txt",
    "a/b.txt",
    "a\\b.txt",
    "/etc/passwd",
    "..",
    ".",
    "",
    ".hidden",
    "ends.",
    "con",
    "NUL.txt",
    "a\0b",
    "a\r\nset-cookie: b=1",
    "right\u202Eto-left.txt",
    "a:b",
    "-rf",
    "~",
    "~root",
    `${"x".repeat(300)}.txt`,
  ]) {
    const answer = await raw(at, name, "x");
    assert.deepEqual([answer.status, codeOf(answer)], [400, "bad-name"], JSON.stringify(name));
  }
  const form = new FormData();
  form.append("file", new File(["fine"], "fine.txt"));
  form.append("file", new File(["not"], "../not.txt"));
  const refused = await upload(at, form);
  assert.equal(refused.status, 400);
  assert.deepEqual(await names(at), []);
});

test("a form that is none, one without a file, one of very many fields, twins, and a file without a name are refused", async (t) => {
  const at = await withThread(t);
  const headers = { "content-type": "multipart/form-data; boundary=x", "x-palimpsest-upload": "1" };
  const broken = await sent(at, "/api/threads/t/uploads", { method: "POST", body: "nothing", headers });
  assert.equal(codeOf(broken), "bad-form");
  const empty = new FormData();
  empty.append("note", "words");
  assert.equal(((await (await upload(at, empty)).json()) as { error: { code: string } }).error.code, "no-file");
  const twins = new FormData();
  twins.append("a", new File(["1"], "same.txt"));
  twins.append("b", new File(["2"], "same.txt"));
  assert.equal((await upload(at, twins)).status, 400);
  const many = await sent(at, "/api/threads/t/uploads", {
    method: "POST",
    body: `${'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(1001)}--x--\r\n`,
    headers,
  });
  assert.deepEqual([many.status, codeOf(many)], [400, "too-many-values"]);
  const nameless = await sent(at, "/api/threads/t/uploads", {
    method: "POST",
    body: "x",
    headers: { "content-type": "application/octet-stream", "x-palimpsest-upload": "1" },
  });
  assert.equal(codeOf(nameless), "no-name");
  const form = await sent(at, "/api/threads/t/uploads", {
    method: "POST",
    body: "x",
    headers: { "content-type": "multipart/form-data; boundary=x" },
  });
  assert.equal(codeOf(form), "not-json", "a form of another site could send that");
  assert.deepEqual(await names(at), []);
});

test("more than the thread may hold is refused whole", async (t) => {
  const at = await withThread(t, "limits: {workspace_megabytes: 0.01}\n");
  assert.equal((await raw(at, "small.txt", "x".repeat(5000))).status, 201);
  const form = new FormData();
  form.append("a", new File(["x".repeat(4000)], "a.txt"));
  form.append("b", new File(["x".repeat(4000)], "b.txt"));
  const full = await upload(at, form);
  assert.equal(full.status, 507);
  assert.deepEqual(await names(at), ["small.txt"]);
});

test("paths that climb, hide a slash, or lead through a link reach nothing outside", async (t) => {
  const at = await withThread(t);
  assert.equal((await raw(at, "in.txt", "inside")).status, 201);
  const { uploads, outputs } = threadWorkspace(at.home.directory, { user: "default", id: "t" }).roots;
  const secret = join(at.home.directory, "secret.txt");
  writeFileSync(secret, "the secret");
  symlinkSync(secret, join(uploads.directory, "link.txt"));
  symlinkSync(at.home.directory, join(uploads.directory, "folder"));
  mkdirSync(join(outputs.directory, "deep"), { recursive: true });
  writeFileSync(join(outputs.directory, "deep", "made.txt"), "made");
  for (const path of [
    "uploads/link.txt",
    "uploads/folder/secret.txt",
    "uploads/..%2f..%2f..%2fsecret.txt",
    "..%2f..%2f..%2fsecret.txt",
    "%2e%2e/%2e%2e/secret.txt",
    "uploads%2f..%2f..%2f..%2fsecret.txt",
    "mnt/user-data/uploads/../../../secret.txt",
    "uploads/..%5c..%5csecret.txt",
    "uploads/in.txt%00.png",
    "uploads",
    "uploads/",
    "etc/passwd",
    "%2fetc%2fpasswd",
    "uploads/none.txt",
    "uploads/in.txt/more",
    "a".repeat(5000),
    "%E0%A4",
  ]) {
    const answer = await sent(at, `/api/threads/t/artifacts/${path}`);
    assert.equal(answer.status, 404, `${path}: ${answer.status}`);
    assert.doesNotMatch(answer.text, /the secret/);
  }
  for (const path of ["uploads/in.txt", "uploads%2Fin.txt", "mnt/user-data/uploads/in.txt"])
    assert.equal((await sent(at, `/api/threads/t/artifacts/${path}`)).text, "inside", path);
  const { files, complete } = JSON.parse((await sent(at, "/api/threads/t/artifacts")).text);
  assert.deepEqual(
    files.map(({ path }: Uploaded) => path),
    ["/mnt/user-data/uploads/in.txt", "/mnt/user-data/outputs/deep/made.txt"],
  );
  assert.equal(complete, true);
});

test("a file is deleted with what was made of it; another's name deletes nothing", async (t) => {
  const at = await withThread(t);
  await raw(at, "a.html", "<p>a</p>");
  await raw(at, "b.txt", "b");
  const remove = (name: string) =>
    sent(at, `/api/threads/t/uploads/${name}`, { method: "DELETE", headers: { "x-palimpsest-upload": "1" } });
  for (const name of ["none.txt", "..%2f..", "%2e%2e", "b.txt%2f.."])
    assert.equal((await remove(name)).status, 404, name);
  assert.equal((await remove("a.html")).status, 200);
  assert.deepEqual(await names(at), ["b.txt"]);
});

test("a file whose reader goes away is closed", async (t) => {
  const at = await withThread(t);
  await raw(at, "long.txt", "x".repeat(5_000_000));
  const { metrics } = { metrics: async () => (await sent(at, "/metrics")).text };
  const stop = new AbortController();
  const response = await fetch(`${at.url}/api/threads/t/artifacts/uploads/long.txt`, { signal: stop.signal });
  await response.body!.getReader().read();
  stop.abort();
  while (!/palimpsest_requests_open 1\n/.test(await metrics())) await new Promise((resolve) => setImmediate(resolve));
});
