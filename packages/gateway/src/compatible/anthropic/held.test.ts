import { heldMessagesSuite } from "../../../test/held-messages-suite.ts";

heldMessagesSuite("SQLite", () => null);
