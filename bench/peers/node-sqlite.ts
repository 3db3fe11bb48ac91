/**
 * The few methods peers call on `better-sqlite3`, a native addon that would have to be compiled, on Node's own SQLite. It
 * takes the addon's place for one peer by name, so that the others load what they would.
 */
import { registerHooks } from "node:module";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

/** @public By its address, in place of the addon. */
export default class Database {
  readonly #db: DatabaseSync;

  constructor(path: string) {
    this.#db = new DatabaseSync(path);
  }

  exec(sql: string): this {
    this.#db.exec(sql);
    return this;
  }

  prepare(sql: string): StatementSync {
    return this.#db.prepare(sql);
  }

  transaction<A extends SQLInputValue[]>(act: (...given: A) => unknown): (...given: A) => void {
    return (...args) => {
      this.#db.exec("BEGIN");
      act(...args);
      this.#db.exec("COMMIT");
    };
  }

  close(): void {
    this.#db.close();
  }
}

export function standInForSqlite(peer: string): void {
  registerHooks({
    resolve(specifier, context, next) {
      const asks = specifier === "better-sqlite3" && context.parentURL?.includes(`/node_modules/${peer}/`);
      return asks ? { url: import.meta.url, shortCircuit: true } : next(specifier, context);
    },
  });
}
