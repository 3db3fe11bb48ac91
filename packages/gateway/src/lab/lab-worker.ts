import { parentPort, workerData } from "node:worker_threads";
import { type LabRequest, playLab } from "./play.ts";

const port = parentPort!;
port.postMessage(await playLab(workerData as LabRequest, (progress) => port.postMessage(progress)));
