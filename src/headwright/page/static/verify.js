// Verify a certificate in this tab.
import { plainTools } from "./common/view.js";
import { checkFile, dropped } from "./common/dropzone.js";

const place = document.getElementById("verified");
const choice = document.getElementById("certificate");
choice.addEventListener("change", () => { if (choice.files[0]) checkFile(choice.files[0], place); choice.value = ""; });
dropped(document.body, place);
const linked = () => {
  const text = new URLSearchParams(location.hash.slice(1)).get("certificate");
  if (text) checkFile(new File([text], "The certificate in the link"), place);
};
addEventListener("hashchange", linked);
linked();
plainTools();
document.documentElement.dataset.ready = "yes";
