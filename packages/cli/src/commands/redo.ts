import { redo } from "palimpsest/threads";
import type { Remote, Run } from "../command/command.ts";
import { remoteRedo, takeBack } from "./undo.ts";

export const run: Run = ({ positionals }, context) => takeBack(context, positionals[0]!, redo);

export const remote: Remote = ({ positionals }, context) => remoteRedo(positionals[0]!, context);
