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
      '. Install a newer Node. A clone of the project brings its own: run "npm start" there once, then "npx palimpsest".\n',
  );
  process.exit(1);
}
import("./launch.js");
