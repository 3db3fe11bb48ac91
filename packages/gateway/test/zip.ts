import { crc32, deflateRawSync } from "node:zlib";

/** A zip archive as programs write it. */
export function zip(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const packed = deflateRawSync(Buffer.from(text));
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc32(text), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(Buffer.byteLength(text), 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), shared, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    centrals.push(Buffer.concat([Buffer.from("PK\x01\x02"), Buffer.alloc(2), shared, rest, Buffer.from(name)]));
    locals.push(local);
    at += local.length;
  }
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(centrals.length, 8);
  end.writeUInt16LE(centrals.length, 10);
  end.writeUInt32LE(Buffer.concat(centrals).length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...centrals, end]);
}
