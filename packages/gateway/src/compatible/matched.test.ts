import { matchedSuite } from "../../test/matched-suite.ts";

matchedSuite("SQLite", () => null);
