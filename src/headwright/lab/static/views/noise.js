// Noise, with the server of the lab.
import { open } from "../common/view.js";
import { build, fields, presets, steps } from "./noise/view.js";

open({ name: "noise", fields, presets, build, steps });
