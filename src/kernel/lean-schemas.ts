/**
 * Imported first by whatever begins a process: from then on schemas check what they are given without writing a program for it
 * first. Zod's programs take a millisecond or two for each schema when it is first used, which a process that answers one
 * message never gets back; a turn is no slower without them.
 */
import { z } from "zod";

z.config({ jitless: true });
