// The front page: what this is, the rooms, and a place for certificates.
import { plainTools } from "./common/room.js";
import { checkFile, dropped } from "./common/dropped.js";

const place = document.getElementById("verified");
const choice = document.getElementById("certificate");
choice.addEventListener("change", () => { if (choice.files[0]) checkFile(choice.files[0], place); choice.value = ""; });
dropped(document.body, place);
plainTools();
document.documentElement.dataset.ready = "yes";
