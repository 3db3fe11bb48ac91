import "./theme/theme.css";
import { render } from "preact";
import { Frame } from "./frame/frame.tsx";
import { applyTheme } from "./frame/theme.ts";

applyTheme();
// Replaces the header of the document, which is shown until the scripts are loaded.
const page = document.querySelector("#page")!;
page.replaceChildren();
render(<Frame />, page);
