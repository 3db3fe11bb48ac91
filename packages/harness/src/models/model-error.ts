/** What can be wrong with a model before it is called. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly code: "no-key" | "bad-address";

  constructor(code: ModelError["code"], message: string) {
    super(message);
    this.code = code;
  }
}
