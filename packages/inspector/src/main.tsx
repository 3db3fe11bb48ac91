import "./theme/theme.css";
import { render } from "preact";
import { Frame } from "./frame/frame.tsx";
import { applyTheme } from "./frame/theme.ts";

applyTheme();
render(<Frame />, document.querySelector("#page")!);
