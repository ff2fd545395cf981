// Pages of text: the API and errors.
import { plainTools } from "./common/view.js";

plainTools();
document.documentElement.dataset.ready = "yes";
