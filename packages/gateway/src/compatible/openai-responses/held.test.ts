import { heldSuite } from "../../../test/held-suite.ts";

heldSuite("SQLite", () => null);
