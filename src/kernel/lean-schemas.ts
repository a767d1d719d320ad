/**
 * Imported first by a program of Lily's own, never by what others build upon: from then on all schemas of the process check
 * what they are given without writing a program for it first. Zod's programs take a millisecond or two for each schema when
 * it is first used, which a process that answers one message never gets back; a turn is no slower without them.
 */
import { z } from "zod";

z.config({ jitless: true });
