import { redo } from "palimpsest/threads";
import type { Run } from "../command/command.ts";
import { takeBack } from "./undo.ts";

export const run: Run = ({ positionals }, context) => takeBack(context, positionals[0]!, redo);
