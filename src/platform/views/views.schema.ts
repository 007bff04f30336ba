import { z } from 'zod';
import { PageQuery } from '../lib/page-request.ts';
import { boundedString } from '../lib/text/bounded-text.ts';
import { ActorField } from '../orgs/orgs.schema.ts';

const fields = {
  name: boundedString({ min: 1, max: 100 }, z.string().trim()),
  page: z
    .string()
    .regex(/^[a-z][a-z0-9/-]{0,49}$/, 'must be lowercase letters, digits, `/` and `-`')
    .describe('The page or list that the view belongs to, such as `hits`.'),
  query: boundedString({ max: 4000 }).describe('The state of the page, such as the query string of its address.'),
};

export const ViewQuery = PageQuery.extend({ page: fields.page.optional() });
export type ViewQuery = z.infer<typeof ViewQuery>;

export const ViewInput = z.strictObject(fields);
export type ViewInput = z.infer<typeof ViewInput>;

export const ViewPath = z.object({ id: z.guid('must be a UUID').toLowerCase() });

const time = z.string().meta({ format: 'date-time' });
export const View = z
  .object({
    id: z.string(),
    ...z.object(fields).shape,
    keyId: z.string().nullable(),
    actor: ActorField,
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'View' });
export type View = z.infer<typeof View>;

export const ViewList = z.object({ views: z.array(View), nextCursor: z.string().nullable() });
export type ViewList = z.infer<typeof ViewList>;
