import { z } from 'zod';

/** The person or key that signed in to the console. Records have it beside the `keyId` of the API key. */
export const ActorField = z
  .string()
  .nullable()
  .describe('The person or key that signed in, if the change was made with a session of the console.');
