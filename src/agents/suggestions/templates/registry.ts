import { cloud } from './cloud.ts';
import { credentials } from './credentials.ts';
import { discovery } from './discovery.ts';
import { evasion } from './evasion.ts';
import { execution } from './execution.ts';
import { impact } from './impact.ts';
import { movement } from './movement.ts';
import { persistence } from './persistence.ts';
import type { Template } from './template.ts';

/** Every query template, one file a family of techniques. A new one is an entry of its file. */
export const templates: readonly Template[] = [
  ...execution,
  ...persistence,
  ...evasion,
  ...credentials,
  ...discovery,
  ...movement,
  ...impact,
  ...cloud,
];
