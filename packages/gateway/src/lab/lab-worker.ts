import { parentPort, workerData } from "node:worker_threads";
import { type LabRequest, playLab } from "./play.ts";

parentPort!.postMessage(await playLab(workerData as LabRequest));
