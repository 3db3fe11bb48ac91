#!/usr/bin/env node
// Plain JavaScript that any Node can parse: checks the version before anything newer is loaded.
var needed = [22, 18];
var found = process.versions.node.split(".").map(Number);
if (found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1])) {
  process.stderr.write(
    "palimpsest needs Node " +
      needed.join(".") +
      " or newer, this is " +
      process.versions.node +
      ". Install a newer Node, or run it through npm (npx palimpsest) inside the project, which brings its own.\n",
  );
  process.exit(1);
}
import("./launch.js");
