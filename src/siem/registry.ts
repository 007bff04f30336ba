import type { SiemConnector } from './connector.ts';
import { local } from './local.ts';

/** Every SIEM that a connection may be to; the API's names are the keys. */
export const siemConnectors = { local } satisfies Record<string, SiemConnector<never>>;
