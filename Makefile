# `make` by itself lists what there is.
#
# The binary reads PAPERTAPE_DATA_DIR, PAPERTAPE_LISTEN, PAPERTAPE_DATABASE_URL and the like from the
# environment; nothing here sets or changes them.

.DEFAULT_GOAL := help
.PHONY: help run build pages test bench fmt lint doc clean cargo tools

# Where rustup and `cargo install` put programs, for shells that were not told.
export PATH := $(PATH):$(HOME)/.cargo/bin

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile

run: tools pages ## Build, run the demo on the bundled data, then serve
	cargo build --locked --package papertape --bin papertape
	@cargo run --quiet --locked --package papertape --bin papertape -- run --demo
	@cargo run --quiet --locked --package papertape --bin papertape -- serve

build: tools pages ## Build the binary (dev profile, hot crates optimised)
	cargo build --locked --package papertape --bin papertape

pages: ## Build the pages, where something has changed (needs Node.js)
	@bash scripts/build-web.sh

test: tools ## Run every check and test, stage by stage; some alone: make test STAGES="format rust"
	@bash scripts/test.sh $(STAGES)

bench: cargo ## Run the benchmarks (release profile); one alone: make bench BENCH=days
ifeq ($(filter-out evidence,$(BENCH)),)
	cargo bench --locked --package papertape-evidence --bench evidence
endif
ifeq ($(filter pages evidence,$(BENCH)),)
	cargo bench --locked --package papertape-store --package papertape --bench commits --bench spine -- $(BENCH)
endif
ifeq ($(filter-out pages,$(BENCH)),)
	@bash scripts/bench-pages.sh
endif

fmt: cargo ## Format the code
	cargo fmt --all

lint: cargo ## Check format and lints
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

doc: cargo ## Build the reference of the crates
	cargo doc --locked --workspace --no-deps

clean: cargo ## Remove what was built (the data directory stays)
	cargo clean

cargo:
	@bash scripts/check-versions.sh rust

tools:
	@bash scripts/check-versions.sh rust node
