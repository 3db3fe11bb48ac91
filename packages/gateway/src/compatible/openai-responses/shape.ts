/** The shape of the Responses API's messages. */
import { type ResponsesMessage, type Shape, shapeOf } from "@palimpsest/core/message";

export const responsesShape = shapeOf("openai-responses") as Shape<ResponsesMessage>;
