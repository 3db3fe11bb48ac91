export type {
  Answer,
  CallPart,
  Dialect,
  FilePart,
  ImagePart,
  OtherPart,
  Part,
  ReasoningPart,
  ResultPart,
  Role,
  Shape,
  TextPart,
} from "./shape.ts";
