/** Records the story anew and writes `docs/recording.svg`: `npm run recording`. */
import { writeFileSync } from "node:fs";
import { drawRecording } from "./draw.ts";
import { record } from "./record.ts";
import { STORY, WINDOW } from "./story.ts";
import { timelineOf } from "./timeline.ts";

const recording = await record(STORY, WINDOW);
const svg = drawRecording(timelineOf(recording), `palimpsest chat --window ${WINDOW}`);
writeFileSync(new URL("../../docs/recording.svg", import.meta.url), svg);
console.log(`docs/recording.svg: ${(svg.length / 1000).toFixed(1)} kB, ${recording.scenes.length} scenes`);
