// The page of an error.
import { plainTools } from "./common/view.js";

plainTools();
document.documentElement.dataset.ready = "yes";
