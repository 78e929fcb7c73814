# SPDX-License-Identifier: Apache-2.0
# Writes fgl.csv and tobin.csv, and prints what R says of them: column, b, scale, log-likelihood, standard errors of b and
# scale by survreg; pair, correlation of largest likelihood at these b and scales.
library(MASS)
library(survival)

write.csv(fgl, "fgl.csv")
write.csv(tobin, "tobin.csv", row.names = FALSE)

control <- survreg.control(maxiter = 200, rel.tolerance = 1e-12)
fits <- list()
censored <- function(name, x) {
    fit <- survreg(Surv(x, x > 0, type = "left") ~ 1, dist = "gaussian", control = control)
    se <- sqrt(diag(vcov(fit))) * c(1, fit$scale) # vcov is of log(scale)
    fits[[name]] <<- fit
    cat(name, format(c(coef(fit), fit$scale, fit$loglik[2], se), digits = 12), "\n")
}

# of each row: both seen, one of them, or none, by the integral over the first column
pair_loglik <- function(rho, u, v, seen_u, seen_v) {
    s <- sqrt(1 - rho^2)
    both <- function(i) dnorm(u[i], log = TRUE) + dnorm((v[i] - rho * u[i]) / s, log = TRUE) - log(s)
    first <- function(i) dnorm(u[i], log = TRUE) + pnorm((v[i] - rho * u[i]) / s, log.p = TRUE)
    second <- function(i) dnorm(v[i], log = TRUE) + pnorm((u[i] - rho * v[i]) / s, log.p = TRUE)
    none <- which(!seen_u & !seen_v)
    below <- if (length(none)) # one limit a column: one integral for all
        log(integrate(function(x) dnorm(x) * pnorm((v[none[1]] - rho * x) / s), -Inf, u[none[1]],
                      rel.tol = 1e-10)$value) else 0
    sum(both(which(seen_u & seen_v))) + sum(first(which(seen_u & !seen_v))) +
        sum(second(which(!seen_u & seen_v))) + length(none) * below
}

for (name in c("Mg", "K", "Ba", "Fe")) censored(name, fgl[[name]])
for (pair in combn(c("Mg", "K", "Ba", "Fe"), 2, simplify = FALSE)) {
    x <- fgl[[pair[1]]]
    y <- fgl[[pair[2]]]
    u <- (x - coef(fits[[pair[1]]])) / fits[[pair[1]]]$scale
    v <- (y - coef(fits[[pair[2]]])) / fits[[pair[2]]]$scale
    best <- optimize(pair_loglik, c(-0.99, 0.99), u, v, x > 0, y > 0, maximum = TRUE, tol = 1e-8)
    cat(paste0(pair[1], "-", pair[2]), best$maximum, "\n")
}
censored("durable", tobin$durable)
