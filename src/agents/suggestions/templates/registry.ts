import { cloud } from './cloud.ts';
import { credentials } from './credentials.ts';
import { discovery } from './discovery.ts';
import { evasion } from './evasion.ts';
import { execution } from './execution.ts';
import { impact } from './impact.ts';
import { movement } from './movement.ts';
import { persistence } from './persistence.ts';
import type { QueryTemplate } from './template.ts';

/** Every query template, one file per family of techniques. */
export const queryTemplates: readonly QueryTemplate[] = [
  ...execution,
  ...persistence,
  ...evasion,
  ...credentials,
  ...discovery,
  ...movement,
  ...impact,
  ...cloud,
];
