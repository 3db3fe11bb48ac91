/** `view_image`: lets a model that sees look at an image of the workspace. */
import { imageSize } from "@palimpsest/core/internal/tokens";
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import { toolFacts } from "../../tool-facts.ts";
import { type ImageType, imageType } from "../image-type.ts";
import { placeOf, withFile } from "../inside.ts";
import { ToolFailure } from "../tool-failure.ts";
import { virtualPath } from "../virtual-path.ts";
import type { Workspace } from "../workspace.ts";

export interface SeenImage {
  readonly path: string;
  readonly mediaType: ImageType;
  readonly width: number;
  readonly height: number;
}

/** Providers refuse more than 5 MB of base64. */
const MAX_BYTES = 3_700_000;

const INPUT = z.object({ path: z.string() });

export function viewImageTool(workspace: Workspace, seen: (image: SeenImage) => Promise<void>): Tool {
  return tool({
    description: "Look at an image file (PNG, JPEG, GIF, WebP) of the workspace.",
    metadata: toolFacts({ act: "read" }),
    inputSchema: INPUT,
    execute: async ({ path }) => {
      const place = placeOf(path);
      const shownPath = virtualPath(place);
      const { image, base64 } = await withFile(workspace, place, async (file, size) => {
        if (size > MAX_BYTES)
          throw new ToolFailure(`${shownPath} has ${size} bytes; images may have ${MAX_BYTES}: make it smaller.`);
        return readImage(shownPath, await file.readFile());
      });
      await seen(image);
      return { ...image, base64 };
    },
    toModelOutput: ({ output: { path, mediaType, width, height, base64 } }) => ({
      type: "content",
      value: [
        { type: "text", text: `${path}: ${mediaType}, ${width} x ${height} pixels.` },
        { type: "file", mediaType, data: { type: "data", data: base64 } },
      ],
    }),
  });
}

function readImage(path: string, bytes: Buffer): { readonly image: SeenImage; readonly base64: string } {
  const mediaType = imageType(bytes);
  const base64 = bytes.toString("base64");
  const size = mediaType && imageSize({ kind: "image", mediaType, source: { kind: "base64", data: base64 } });
  if (mediaType === null || !size) {
    throw new ToolFailure(`${path} is not a PNG, JPEG, GIF or WebP image that can be shown, whatever its name says.`);
  }
  return { image: { path, mediaType, width: size.width, height: size.height }, base64 };
}
