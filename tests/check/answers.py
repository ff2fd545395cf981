"""Answers of all kinds, right and wrong, with the word that each deserves.

Several formulas of one answer are separated by a bar of three signs: ' ||| '.
"""

RIGHT: dict[str, tuple[str, ...]] = {
    "copying": (
        r"k_j^\top q \gg k_i^\top q \text{ for all } i \ne j ||| c \approx v_j",
        r"\langle k_j, q \rangle \gg \langle k_i, q \rangle",
        r"k_i^T q \ll k_j^T q",
        r"k_j^\top q \ge k_i^\top q + \ln((n-1)/\delta)",
        r"k_j \cdot q - k_i \cdot q \ge \ln\frac{(n-1)(1-\delta)}{\delta}",
        r"k_j^\top q > k_i^\top q + \ln(n/\delta)",
        r"e^{k_j^\top q} \ge \frac{1-\delta}{\delta} \sum_{i \ne j} e^{k_i^\top q}",
    ),
    "copying-separated": (
        r"q = 2\ln(n/\epsilon) k_1",
        r"q = 2 \left( \ln n - \ln \epsilon \right) k_1",
        r"q = \ln((n/\epsilon)^2) k_1",
        r"q = 2 \ln((n-1)/\epsilon) k_1 ||| \|k_1\| = 1",
        r"q = t k_1 ||| t = 2\ln(n/\epsilon) ||| \langle k_1, k_i \rangle \le \frac{1}{2} ||| "
        r"(n-1) e^{-t/2} \le (n-1)\epsilon/n < \epsilon",
    ),
    "averaging-two": (
        r"q = \lambda(k_a + k_b)",
        r"q = \log(t)(k_a + k_b), t \gg n",
        r"q = log(t)*(k_a + k_b)",
        r"q = \lambda k_a + \lambda k_b ||| \alpha_a = \alpha_b",
        r"q = \lambda(\mu_a + \mu_b) ||| \alpha_a = \alpha_b = e^\lambda / (2 e^\lambda + (n-2))",
        r"q = \beta(k_a + k_b) ||| \beta \ge \ln((n-2)/\epsilon)",
        r"q = \ln(n/\epsilon)(k_a + k_b)",
        r"q = \lambda^2 (k_a + k_b)",
        r"q = -\lambda \sum_{i \ne a, b} k_i",
        r"q = \lambda(2 k_a + 2 k_b - \sum_{i=1}^n k_i)",
        r"q = \frac{\lambda}{2}(k_a+k_b) ||| \|q\| = \lambda/\sqrt{2}",
        r"q = \lambda(k_a + k_b) ||| c \approx \frac12 (v_a + v_b)",
        r"q = \lambda(k_a + k_b) ||| k_a^\top q = k_b^\top q = \lambda ||| k_i^\top q = 0 \text{ for } i \ne a, b",
    ),
    "averaging-two-bounded": (
        r"q = \ln(n/\epsilon)(k_1 + k_2)",
        r"q = \ln(n/\epsilon) k_1 + \ln(n/\epsilon) k_2 ||| \|q\| = \sqrt{2} \ln(n/\epsilon)",
        r"q = 2 \ln(n/\epsilon) (k_1 + k_2)",
        r"q = \frac32 \ln(n/\epsilon)(k_1+k_2)",
        r"q = t(k_1 + k_2) ||| t = \ln(n/\epsilon) ||| \alpha_1 = \frac{n/\epsilon}{2n/\epsilon + n - 2}",
    ),
    "averaging-gaussian": (
        r"q = \lambda(\mu_a + \mu_b)",
        r"q = \log(t)(u_a + u_b) ||| t \gg n",
    ),
    "averaging-scaled": (
        r"q = -\lambda \sum_{i \ne a, b} \mu_i ||| c \approx \frac12 (v_a + v_b)",  # it averages at every length
        r"q = \lambda(\mu_a + \mu_b) ||| \Pr(c \approx v_a) \approx \frac12",
        r"q = \lambda(\mu_a + \mu_b) ||| g > 1 \Rightarrow c \approx v_a ||| g < 1 \Rightarrow c \approx v_b",
        r"q = \log(t)(\mu_a + \mu_b) ||| c \approx v_b \text{ if } g < 1",
    ),
    "averaging-scaled-discrete": (
        r"\frac{\alpha_1}{\alpha_2} = e^{(c-1)t}",
        r"\alpha_1/\alpha_2 = \sqrt{n/\epsilon} \text{ for } c = 3/2 ||| "
        r"\alpha_1/\alpha_2 = \sqrt{\epsilon/n} \text{ for } c = 1/2",
        r"\alpha_1 = \frac{e^{ct}}{e^{ct} + e^t + n - 2}",
        r"\alpha_2 = \frac{n/\epsilon}{(n/\epsilon)^c + n/\epsilon + n - 2}",
    ),
    "two-heads": (
        r"q_1 = \lambda\mu_a, q_2 = \lambda\mu_b",
        r"q_1 = \log(s) u_a, q_2 = \log(t) u_b ||| s, t \gg n",
        r"q_1 = \lambda \mu_b ||| q_2 = \lambda \mu_a",
        r"q_1 = \lambda\mu_a, q_2 = \lambda\mu_b ||| c_1 \approx v_a ||| c_2 \approx v_b",
    ),
    "two-heads-scaled": (
        r"q_1 = \lambda\mu_a, q_2 = \lambda\mu_b",
        r"q_1 = \log(s) u_a, q_2 = \log(t) u_b",
    ),
    "two-heads-discrete": (
        r"q_1 = 2 t u, q_2 = t k_2",
        r"q_1 = 2\ln(n/\epsilon) u ||| q_2 = \ln(n/\epsilon) k_2",
        r"q_1 = 2 t u, q_2 = 2 t k_2",
    ),
    "taking-apart": (
        r"M = A A^\top",
        r"M = A A'",
        r"M = \sum_{i=1}^{p} a_i a_i^\top",
        r"M = I - B B^\top",
        r"M = (I - B B^\top) A A^\top",
    ),
    "self-attention-copy": (
        r"c_2 \approx u_a",
        r"c_2 \to u_a \text{ as } \beta \to \infty ||| \alpha_{22} = \frac{e^{\beta^2}}{e^{\beta^2}+2}",
        r"x_2 = u_a + u_d ||| c_2 \approx u_a + u_d",
        r"x_2 = u_a + u_c ||| c_2 \approx u_a + u_c ||| \alpha_{21} = \frac{1}{1 + e^{2\beta^2} + e^{\beta^2}}",
        r"\alpha_{21} = \alpha_{23} ||| c_2 \approx u_a",
    ),
    "self-attention-route": (
        r"V = (1/\beta^2)(u_b u_b^\top - u_c u_c^\top), K = I, Q = (1/\beta^2)(u_c u_d^\top + u_d u_a^\top)",
        r"V = \frac{u_b u_b^\top - u_c u_c^\top}{\beta^2} ||| K = I ||| Q = u_c u_d^\top + u_d u_a^\top",
        r"V = \frac{1}{\beta^2}(u_b u_b^\top - u_c u_c^\top) ||| "
        r"K = \frac{1}{\beta^2} (u_d u_c^\top + u_a u_d^\top) ||| Q = I",
    ),
    "permutation": (
        r"Q_p = PQ, K_p = PK, V_p = PV ||| Z_p = relu(H_p W_1 + 1 b_1) W_2 + 1 b_2 = relu(PHW_1 + 1 b_1) W_2 + 1 b_2 "
        r"= P relu(HW_1 + 1 b_1) W_2 + 1 b_2 = P Z",
    ),
    "positions-help": (
        r"P X + \Phi \ne P (X + \Phi)",
        r"P(X + \Phi) = PX + P\Phi ||| P X + P \Phi \ne P X + \Phi",
    ),
    "positions-unique": (
        r"\cos t \ne \cos t'",
        r"\Phi_t \ne \Phi_{t'}",
        r"t - t' = 2\pi k \Rightarrow k = 0",
        r"\sin t = \sin t', \cos t = \cos t' \Rightarrow t = t' + 2\pi k",
        r"T \le 2\pi \cdot 10000^{1-2/d} \Rightarrow \Phi_t \ne \Phi_{t'}",
        r"t = t' + 2 \pi k \Rightarrow t = t'",
    ),
    "energy": (
        r"\operatorname{tr}(A^\top A) = \operatorname{tr}(V S U^\top U S V^\top) = \operatorname{tr}(V S^2 V^\top) "
        r"= \operatorname{tr}(V^\top V S^2) = \sum_i \sigma_i^2",
        r"\|A\|_F^2 = \operatorname{tr}(A A^\top) = \operatorname{tr}(U S^2 U^\top) = \operatorname{tr}(S^2) "
        r"= \sum_{i=1}^{d} \sigma_i^2",
        r"norm_F(A)^2 = trace(A^T A) = trace(S^2) = sum_{j=1}^{d} sigma_j^2",
    ),
    "kth-singular-value": (
        r"\|A\|_F^2 \ge \sum_{i \le k} \sigma_i^2 \ge k \sigma_k^2",
        r"\|A\|_F^2 = \sum_{i=1}^{d} \sigma_i^2 \ge \sum_{i=1}^{k} \sigma_i^2 \ge k \sigma_k^2",
        r"\sigma_k^2 \le \frac{1}{k} \sum_{i=1}^{k} \sigma_i^2 \le \frac{\|A\|_F^2}{k}",
    ),
    "low-rank": (
        r"B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top",
        r"B = A - \sum_{i=k}^{d} \sigma_i u_i v_i^\top",
    ),
}

WRONG: dict[str, tuple[str, ...]] = {
    "copying": (
        r"k_j^\top q > k_i^\top q",
        r"k_j^\top q \ge k_i^\top q + \ln(n-1)",
        r"k_i^\top q \gg k_j^\top q",
        r"k_j^\top q \ge 2 k_i^\top q",
        r"k_j^\top q \gg 0",
        r"k_j^\top q \gg k_i^\top q ||| c \approx \frac12 v_j",
    ),
    "copying-separated": (
        r"q = \ln(n/\epsilon) k_1",
        r"q = -2\ln(n/\epsilon) k_1",
        r"q = 3\ln(n/\epsilon) k_1",
        r"q = 2\ln(1/\epsilon) k_1",
        r"q = 2\ln(n) k_1",
        r"q = 2\ln(n/\epsilon) k_1 ||| \langle k_1, k_i \rangle \le \frac13",
        r"q = 2\ln(n/\epsilon) k_1 ||| \langle k_1, k_i \rangle = 0",
    ),
    "averaging-two": (
        r"q = \frac{1}{\sqrt{2}}(k_a + k_b)",
        r"q = \frac{1}{2}(k_a + k_b)",
        r"q = 100 (k_a + k_b)",
        r"q = \lambda(k_a - k_b)",
        r"q = -\lambda(k_a + k_b)",
        r"q = \lambda k_a",
        r"q = \lambda k_a + 2\lambda k_b",
        r"q = \lambda \sum_{i=1}^{n} k_i",
        r"q = \ln(n)(k_a + k_b)",
        r"q = \beta(k_a + k_b) ||| \beta > 0",
        r"q = \frac{1}{\lambda}(k_a + k_b)",
        r"q = \lambda(k_a + k_b) ||| \alpha_a = \frac{e^\lambda}{2e^\lambda + n}",
        r"q = \lambda(k_a + k_b) ||| \alpha_a = \frac12",
        r"q = \lambda(k_a + k_b) ||| \|q\| = 2\lambda",
        r"q = \lambda(k_a + k_b) ||| c \approx v_a + v_b",
        r"q = \log(t)(k_a+k_b) ||| \alpha_i = 1/(2t + n) \text{ for } i \ne a, b",
    ),
    "averaging-two-bounded": (
        r"q = \ln(1/\epsilon)(k_1 + k_2)",
        r"q = 3\ln(n/\epsilon)(k_1 + k_2)",
        r"q = \frac12 \ln(n/\epsilon)(k_1 + k_2)",
        r"q = \ln(n/\epsilon) k_1",
        r"q = \lambda(k_1 + k_2)",
        r"q = \ln(n\epsilon)(k_1 + k_2)",
        r"q = \ln(n/\epsilon)(k_1 + k_2) ||| \|q\| = 2\ln(n/\epsilon)",
    ),
    "averaging-gaussian": (
        r"q = \beta(\mu_a + \mu_b) ||| \beta > 0 ||| \beta = 1/\sqrt{2}",
        r"q = \frac{1}{\sqrt 2}(\mu_a + \mu_b)",
        r"q = \lambda(\mu_a - \mu_b)",
    ),
    "averaging-scaled": (
        r"q = \lambda(\mu_a + \mu_b) ||| g > 1 \Rightarrow c \approx v_b",
        r"q = \lambda(\mu_a + \mu_b) ||| c \approx \frac12 (v_a + v_b)",
        r"q = \lambda(\mu_a + \mu_b) ||| \|k_a\| > 1 \Rightarrow c \approx v_a",
    ),
    "averaging-scaled-discrete": (
        r"\frac{\alpha_1}{\alpha_2} = e^{ct}",
        r"\alpha_1/\alpha_2 = \sqrt{n/\epsilon}",
        r"\alpha_1/\alpha_2 = \sqrt{n/\epsilon} \text{ for } c = 1/2",
        r"\alpha_1 = \alpha_2",
        r"\alpha_1 \approx \frac12",
    ),
    "two-heads": (
        r"q_1 = \lambda(\mu_a + \mu_b), q_2 = \lambda(\mu_a + \mu_b)",
        r"q_1 = \lambda\mu_a, q_2 = \lambda\mu_a",
        r"q_1 = \mu_a, q_2 = \mu_b",
        r"q_1 = \lambda \mu_a, q_2 = -\lambda\mu_b",
        r"q_1 = \lambda\mu_a, q_2 = \lambda\mu_b ||| c_1 \approx v_b",
    ),
    "two-heads-scaled": (
        r"q_1 = \lambda(\mu_a + \mu_b), q_2 = \lambda(\mu_a + \mu_b)",
        r"q_1 = \lambda\mu_a, q_2 = \lambda\mu_b ||| \Pr(c \approx \frac12(v_a + v_b)) \to 1",
        r"q_1 = \lambda\mu_a, q_2 = \lambda\mu_a",
        r"q_1 = -\lambda\mu_a, q_2 = \lambda\mu_b",  # it works only when the key points backwards
    ),
    "two-heads-discrete": (
        r"q_1 = \ln(n/\epsilon) u, q_2 = \ln(n/\epsilon) k_2",
        r"q_1 = t u, q_2 = t u",
        r"q_1 = 2 t k_2, q_2 = 2 t u",
        r"q_1 = -2 t u, q_2 = t k_2",
    ),
    "taking-apart": (
        r"M = A^\top A",
        r"M = A + x",
        r"M = A A^\top + B B^\top",
        r"M = B B^\top",
        r"M = 2 A A^\top",
        r"M = I",
        r"M = I - A A^\top",
        r"M = \frac12 I",
        r"M = A A^\top - B B^\top",
    ),
    "self-attention-copy": (
        r"c_2 \approx u_b",
        r"c_2 \approx \frac13 (u_a + u_b + u_c)",
        r"c_2 \approx u_a ||| \alpha_{22} = \frac{e^{\beta}}{e^{\beta}+2}",
        r"x_2 = u_a + u_d ||| c_2 \approx u_b",
        r"x_2 = u_a + u_c ||| c_2 \approx u_b",
        r"x_2 = u_a + u_d ||| c_2 \approx u_d + u_b",
        r"c_2 = u_a",
    ),
    "self-attention-route": (
        r"V = (1/\beta^2)(u_b u_b^\top - u_c u_c^\top), K = I, Q = (1/\beta^2)(u_d u_c^\top + u_a u_d^\top)",
        r"V = u_b u_b^\top - u_c u_c^\top, K = I, Q = (1/\beta^2)(u_c u_d^\top + u_d u_a^\top)",
        r"V = (1/\beta^2)(u_b u_b^\top + u_c u_c^\top), K = I, Q = (1/\beta^2)(u_c u_d^\top + u_d u_a^\top)",
        r"V = I, K = I, Q = I",
        r"V = (1/\beta^2)(u_b u_b^\top - u_c u_c^\top), K = I, Q = (1/\beta^4)(u_c u_d^\top + u_d u_a^\top)",
    ),
    "permutation": (
        r"Q_p = QP",
        r"Z_p = Z",
        r"Z_p = relu(H_p W_1 + 1 b_1) W_2 + 1 b_2 = relu(H W_1 + 1 b_1) W_2 + 1 b_2 = P Z",
        r"H_p = softmax(P Q K^T P^T/\sqrt d) P V = softmax(Q K^T/\sqrt d) P V = P H ||| Z_p = P Z",
        r"H_p = softmax(P Q K^T/\sqrt d) P V ||| Z_p = P Z",
    ),
    "positions-help": (
        r"P X + \Phi = P(X + \Phi)",
        r"P \Phi = \Phi",
        r"P X + P \Phi \ne P(X + \Phi)",
    ),
    "positions-unique": (
        r"T < 2\pi",
        r"0 \le t, t' < T < 2\pi",
        r"\sin t = \sin t' \text{ and } \cos t = \cos t' \Rightarrow t = t' + 2 \pi k ||| T < 2\pi",
        r"t - t' = 2\pi k \Rightarrow k = 1",
        r"\Phi_t \ne \Phi_{t'} \iff T \le 2\pi \cdot 10000^{1-2/d}",
        r"\Phi_t = \Phi_{t'}",
    ),
    "energy": (
        r"\operatorname{tr}(A^\top A) = \operatorname{tr}(V S V^\top) = \sum_i \sigma_i^2",
        r"\|A\|_F^2 = \operatorname{tr}(A^\top A) = \operatorname{tr}(S) = \sum_i \sigma_i",
        r"\|A\|_F = \sum_{i=1}^{d} \sigma_i^2",
        r"\|A\|_F^2 = \|A\|_2^2 = \sum_{i=1}^{d} \sigma_i^2",
    ),
    "kth-singular-value": (
        r"\|A\|_F^2 \ge \sum_{i \le k} \sigma_i^2 \ge k \sigma_1^2 \ge k \sigma_k^2",
        r"\|A\|_F^2 \ge \sum_{i=k}^{d} \sigma_i^2 \ge k \sigma_k^2",
        r"\|A\|_F^2 \le \sum_{i \le k} \sigma_i^2 ||| \|A\|_F^2 \ge k \sigma_k^2",
        r"\sigma_k \le \|A\|_F / k",
    ),
    "low-rank": (
        r"B = \sum_{i=1}^{k} \sigma_i u_i v_i^\top",
        r"B = \sum_{i=2}^{k} \sigma_i u_i v_i^\top",
        r"B = \sum_{i=1}^{k-2} \sigma_i u_i v_i^\top",
        r"B = -\sum_{i=1}^{k-1} \sigma_i u_i v_i^\top",
        r"B = A",
        r"B = \sum_{i=1}^{k-1} \sigma_i^2 u_i v_i^\top",
    ),
}

UNREADABLE: dict[str, tuple[str, ...]] = {
    "averaging-two": (
        r"q = \lambda(k_a + ",
        r"k_a + k_b",
        r"q = \lambda + k_a",
        r"q = \lambda(k_x + k_b)",
        r"q = k_a k_b",
        r"q = \foo{k_a}",
    ),
    "permutation": (r"Z_p = Z P^\top P x",),
    "positions-unique": (r"\Phi_t \approx \Phi_{t'}",),
}

EMPTY: dict[str, tuple[str, ...]] = {
    "averaging-scaled-discrete": (r"\alpha_1 = \alpha_1",),
    "averaging-two": (r"p = \lambda(k_a + k_b)",),
    "permutation": (r"Z_p = P Z",),
    "self-attention-copy": (r"c_2 \approx c_2",),
    "two-heads": (r"q_1 = \lambda\mu_a",),
}
