/** Cases of the Mozi document whose behaviour is not built yet. C4 has no id there; the one here is ours. */
import type { PlannedCase } from "#evals/harness/eval-case.ts";

const SEMANTIC = "the topic classifier";
const CONTROL = "control-model resolution";

/** In the order of the document. */
export const plannedCases: readonly PlannedCase[] = [
  {
    id: "session_rollover_semantic_high_confidence",
    title: "B4: a change of topic at high confidence may roll",
    waitsFor: SEMANTIC,
  },
  {
    id: "control_model_defaults_precedence",
    title: "C1: the configured control model decides",
    waitsFor: CONTROL,
  },
  {
    id: "control_model_session_override_precedence",
    title: "C2: the session's control model wins",
    waitsFor: CONTROL,
  },
  {
    id: "control_model_fallback_deterministic",
    title: "C3: without one, the fallback is the same each time",
    waitsFor: CONTROL,
  },
  {
    id: "control_model_ignores_reply_model",
    title: "C4: changing the reply model changes no decision",
    waitsFor: CONTROL,
  },
  {
    id: "semantic_rollover_debounce",
    title: "E1: at most one semantic rotation in the cooldown",
    waitsFor: SEMANTIC,
  },
  {
    id: "semantic_rollover_reversible",
    title: "E2: a wrong semantic rotation is undone without loss",
    waitsFor: SEMANTIC,
  },
  {
    id: "legacy_mode_new_inplace_clear",
    title: "F1: in legacy mode /new clears in place",
    waitsFor: "lifecycle.mode",
  },
];
