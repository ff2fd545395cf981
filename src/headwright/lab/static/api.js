// A page of words: it has the tools that every page has.
import { plainTools } from "./common/room.js";

plainTools();
document.documentElement.dataset.ready = "yes";
