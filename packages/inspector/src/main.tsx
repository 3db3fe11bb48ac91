import "./theme/theme.css";
import { render } from "preact";
import { Frame } from "./frame/frame.tsx";
import { applyTheme } from "./frame/theme.ts";

applyTheme();
// Until here the document's own header stands, so that something is seen before the scripts have come.
const page = document.querySelector("#page")!;
page.replaceChildren();
render(<Frame />, page);
