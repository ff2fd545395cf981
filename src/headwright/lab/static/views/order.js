// Order, with the server of the lab.
import { open } from "../common/view.js";
import { build, fields, presets, roundingPresets, steps, validate } from "./order/view.js";

open({ name: "order", fields, presets: [...presets, ...roundingPresets], build, validate, steps });
