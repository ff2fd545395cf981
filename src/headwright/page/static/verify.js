// Verify a certificate in this tab.
import { plainTools } from "./common/view.js";
import { checkFile, dropped } from "./common/dropzone.js";

const place = document.getElementById("verified");
const choice = document.getElementById("certificate");
choice.addEventListener("change", () => { if (choice.files[0]) checkFile(choice.files[0], place); choice.value = ""; });
dropped(document.body, place);
plainTools();
document.documentElement.dataset.ready = "yes";
