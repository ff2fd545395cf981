// A derivation, which is also the answer to an exercise: a page without solutions has a file of this name that holds none.
export const DERIVATION = String.raw`$$H_p = \operatorname{softmax}(P Q K^\top P^\top/\sqrt{d}) P V = P H$$ $$Z_p = \operatorname{relu}(P H W_1 + \mathbf{1} b_1) W_2 + \mathbf{1} b_2 = P Z$$`;
