/** `view_image`: lets a model that sees look at an image of the workspace. The image itself follows as a user turn. */
import { imageSize } from "@palimpsest/core/tokens";
import { type Tool, tool } from "ai";
import { z } from "zod";
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
  readonly base64: string;
}

/** Providers refuse more than 5 MB of base64. */
const MAX_BYTES = 3_700_000;

export function viewImageTool(workspace: Workspace, see: (image: SeenImage) => void): Tool {
  return tool({
    description: "Look at an image file (PNG, JPEG, GIF, WebP) of the workspace.",
    inputSchema: z.strictObject({ path: z.string() }),
    execute: async ({ path }): Promise<string> => {
      const place = placeOf(path);
      const shown = virtualPath(place);
      const image = await withFile(workspace, place, async (file, size) => {
        if (size > MAX_BYTES)
          throw new ToolFailure(`${shown} has ${size} bytes; images may have ${MAX_BYTES}: make it smaller.`);
        return readImage(shown, await file.readFile());
      });
      see(image);
      return `${shown}: ${image.mediaType}, ${image.width} x ${image.height} pixels. The image follows.`;
    },
  });
}

function readImage(path: string, bytes: Buffer): SeenImage {
  const mediaType = imageType(bytes);
  const base64 = bytes.toString("base64");
  const size = mediaType && imageSize({ kind: "image", mediaType, source: { kind: "base64", data: base64 } });
  if (mediaType === null || !size || size.width < 1 || size.height < 1) {
    throw new ToolFailure(`${path} is not a PNG, JPEG, GIF or WebP image that can be shown, whatever its name says.`);
  }
  return { path, mediaType, base64, width: size.width, height: size.height };
}
