import { z } from 'zod';
import { ActorField } from '../../platform/orgs/orgs.schema.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { ignoreFields, revisionInput, timeMax } from '../../platform/lib/schema-parts.ts';

/** The bounds of a skill and of the archive that it is imported from. */
export const skillBounds = {
  filesMax: 100,
  bodyCharsMax: 60_000,
  fileBytesMax: 256 * 1024,
  bytesMax: 1024 * 1024,
  zipBytesMax: 2 * 1024 * 1024,
} as const;

/** A name as the Agent Skills specification defines it (https://agentskills.io/specification, "name field"). */
export const SkillName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must consist of lower-case letters, digits and single hyphens between them')
  .describe('Name of a skill.');

export const SkillPath = z.object({ name: SkillName });
export const SkillVersionPath = z.object({
  name: SkillName,
  version: z.coerce.number().int().min(0).max(1_000_000).meta({ type: 'integer' }),
});

const pathMax = 200;

/** A relative path below the folder of the skill, with slashes, that every file system can store. */
const FilePath = boundedString({ min: 1, max: pathMax }).check(({ value, issues }) => {
  const problem = findPathProblem(value);
  if (problem !== undefined) issues.push({ code: 'custom', input: value, message: problem });
});

function findPathProblem(path: string): string | undefined {
  if (/[\0-\u001F\u007F\\:*?"<>|]/.test(path)) return 'must not contain control characters or any of \\ : * ? " < > |';
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..'))
    return 'must be a relative path such as references/fields.md';
  if (path === 'SKILL.md') return 'must not be SKILL.md, whose content the other fields are';
  return undefined;
}

const fileCharsMax = Math.ceil(skillBounds.fileBytesMax / 3) * 4;
export const SkillFile = z
  .strictObject({
    path: FilePath.describe('Path below the folder of the skill, such as `references/fields.md`.'),
    text: boundedString({ max: fileCharsMax }).optional().describe('Content of a text file.'),
    base64: z.base64().max(fileCharsMax).optional().describe('Content of any other file.'),
  })
  .refine(({ text, base64 }) => (text === undefined) !== (base64 === undefined), 'must have either `text` or `base64`');
export type SkillFile = z.infer<typeof SkillFile>;

const notBlank = (text: string): boolean => text.trim() !== '';

/**
 * The content of a skill, with the limits of the Agent Skills specification (https://agentskills.io/specification) where it has one. Bounds that it
 * does not have are this service's own.
 */
const content = {
  description: boundedString({ min: 1, max: 1024 })
    .refine(notBlank, 'must not be blank')
    .describe('What the skill does and when to use it. A model decides by it whether to read the skill.'),
  license: boundedString({ min: 1, max: 500 })
    .nullable()
    .default(null)
    .describe('Name of a license, or of a license file of the skill.'),
  compatibility: boundedString({ min: 1, max: 500 })
    .nullable()
    .default(null)
    .describe('What the skill needs from its environment.'),
  metadata: z
    .record(boundedString({ min: 1, max: 100 }), boundedString({ max: 1_000 }))
    .refine((value) => Object.keys(value).length <= 50, 'must have at most 50 fields')
    .default({})
    .describe('Any further properties.'),
  allowedTools: z
    .array(boundedString({ min: 1, max: 200 }))
    .max(100)
    .default([])
    .describe('Kept for other programs. It grants nothing here: `toolNames` of the detection does.'),
  body: boundedString({ max: skillBounds.bodyCharsMax }).describe('The instructions, in Markdown.'),
  files: z
    .array(SkillFile)
    .max(skillBounds.filesMax)
    .default([])
    .describe(
      'Files beside `SKILL.md`. A model can read text files. `scripts/` and `assets/` are kept but never executed.',
    ),
};

/** What `SKILL.md` and the files beside it contain, without the name. */
export const SkillContent = z.strictObject(content);
export type SkillContent = z.infer<typeof SkillContent>;

const summary = {
  name: z.string(),
  description: z.string(),
  version: z.int().describe('0: the version that ships with the service.'),
  source: z
    .enum(['shipped', 'organization'])
    .describe('Who wrote this version: it ships with the service, or it is the organization’s own.'),
  replacesShipped: z
    .boolean()
    .describe('A skill of this name ships with the service. It returns when this one is deleted.'),
  bytes: z.int().describe('Size of the instructions and files.'),
  usedBy: z.array(z.string()).describe('IDs of the detections whose `skills` have the name.'),
  keyId: z.string().nullable().describe('API key that wrote the version.'),
  actor: ActorField,
  updatedAt: z.string().nullable().describe('Null for a shipped skill.'),
  revision: z.int().describe('Increases with every change of the skill. 0 for a shipped skill.'),
};

export const Skill = z
  .object({
    ...summary,
    license: z.string().nullable(),
    compatibility: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    allowedTools: z.array(z.string()),
    body: z.string(),
    files: z.array(z.object({ path: z.string(), text: z.string().optional(), base64: z.string().optional() })),
  })
  .meta({ id: 'Skill' });
export type Skill = z.infer<typeof Skill>;

const readOnlyFields = Object.keys(Skill.shape).filter((name) => !Object.hasOwn(content, name));

/** The content of a skill as the API returned it. */
export const StoredContent = ignoreFields(readOnlyFields, SkillContent);

export const SkillInput = ignoreFields(
  readOnlyFields,
  z.strictObject({
    ...content,
    expectedRevision: revisionInput(
      timeMax,
      'The `revision` that the change is based on, and 0 for a skill that does not exist or is shipped. If it is not the current one, the answer is 409, and `stale` lists what changed. Absent: replaces any version.',
    ),
  }),
);
export type SkillInput = z.infer<typeof SkillInput>;

export const SkillList = z.object({ skills: z.array(z.object(summary)) });
export type SkillList = z.infer<typeof SkillList>;

export const SkillVersions = z.object({
  versions: z.array(
    z.object({
      version: z.int(),
      description: z.string(),
      bytes: z.int(),
      keyId: z.string().nullable(),
      actor: ActorField,
      createdAt: z.string(),
    }),
  ),
});
export type SkillVersions = z.infer<typeof SkillVersions>;
