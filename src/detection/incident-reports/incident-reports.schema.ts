import { z } from 'zod';
import { Hit, HitDetail, HitEvidence } from '../hits/hits.schema.ts';
import { IncidentDetail, IncidentTimeline } from '../incidents/incidents.schema.ts';
import { Claims } from '../verdicts/verdicts.schema.ts';

const claim = Claims.element.shape;
const ofHit = z.array(z.object({ hitId: z.string(), text: z.string() }));

export const reportFormats = ['json', 'markdown', 'html'] as const;

export const ReportQuery = z.object({
  format: z.enum(reportFormats).optional().describe('Default: `json`. The other formats are sent as files.'),
});

const writer = {
  runId: z.string(),
  agentId: z.string(),
  agentName: z.string(),
  model: z.string().nullable(),
};

/** The run of a response agent that wrote a story, with its verdict. */
export const StoryRun = z.object({
  ...writer,
  startedAt: z.string(),
  finishedAt: z.string(),
  verdict: z.object({ headline: z.string(), claims: Claims }),
});
export type StoryRun = z.infer<typeof StoryRun>;

const Story = z.object({
  headline: z.string(),
  writtenBy: z
    .object({
      ...writer,
      at: z.string(),
      hitsSince: z.number().int().describe('Hits of the incident that are newer, so that the story lacks them.'),
    })
    .nullable()
    .describe(
      'The response agent that wrote the story from the rows of the hits. Null if the service composed it from the claims of their verdicts.',
    ),
  paragraphs: z
    .array(
      z.object({
        tactic: z.string().nullable().describe('Short name of the ATT&CK tactic. Null for hits without a technique.'),
        name: z.string(),
        firstAt: z.string(),
        lastAt: z.string(),
        sentences: z.array(
          z.object({
            text: z.string(),
            status: claim.status.exclude(['unproven']),
            hitId: z
              .string()
              .nullable()
              .describe('The hit that it is about: the first that it cites. Null for an assessment of the whole.'),
            cites: claim.cites.describe(
              'A sentence of a written story cites rows of several hits, each with the `hit` that has it.',
            ),
          }),
        ),
      }),
    )
    .describe('The stages of the incident in order of time.'),
  openQuestions: ofHit.describe('What has to be found out.'),
  nextSteps: ofHit,
  unproven: z.number().int().describe('Sentences that are left out because nothing proves them.'),
});
export type Story = z.infer<typeof Story>;

export const IncidentReport = z
  .object({
    createdAt: z.string(),
    organization: z.string(),
    incident: IncidentDetail,
    story: Story.describe(
      'What happened. Each sentence is a checked claim of the agent that wrote the story. In a composed story it is a claim of the verdict on a hit, or states the hit itself.',
    ),
    hits: z.array(Hit).describe('In order of time, at most 200.'),
    timeline: IncidentTimeline.shape.entries.describe(
      'Latest first, at most 500 hits, 500 findings of hunts, and 500 decisions and comments.',
    ),
    leftOut: z
      .object({
        hits: z.number().int(),
        isTimelineCut: z.boolean().describe('There are older decisions and comments.'),
        areFindingsCut: z.boolean().describe('There are older findings of hunts.'),
      })
      .describe('What exceeds the limits of a report. `GET /api/incidents/{id}/timeline` pages through all of it.'),
  })
  .meta({ id: 'IncidentReport' });
export type IncidentReport = z.infer<typeof IncidentReport>;

/** The form of a bundle. A later form that older programs cannot check gets another number. */
export const bundleFormat = 'tocsin-evidence-bundle/1';

const hex = z.string().regex(/^[0-9a-f]{64}$/);

/** `files` has the SHA-256 of every file but itself and `audit.json`. `removed` names what claims cite and retention or an erasure removed. */
export const Manifest = z.object({
  format: z.literal(bundleFormat, `is not ${bundleFormat}, the form that this version checks`),
  incidentId: z.string(),
  organizationId: z.string(),
  createdAt: z.string(),
  removed: z.array(z.string()),
  files: z.record(z.string(), hex),
});
export type Manifest = z.infer<typeof Manifest>;

/** The audit entry of a bundle, with the hash of the entry before it, in hexadecimal. That of the first entry is empty. */
export const BundledEntry = z.object({
  organization_id: z.string(),
  sequence: z.string(),
  id: z.string(),
  atMicros: z.string(),
  key_id: z.string().nullable(),
  actor: z.string().nullable(),
  action: z.string(),
  resource_type: z.string(),
  resource_id: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  hash: hex,
  previous: z.string().regex(/^(?:[0-9a-f]{64})?$/),
});
export type BundledEntry = z.infer<typeof BundledEntry>;

/** The run that wrote the story of a bundle, with its transcript. */
export const BundledStory = z.object({ story: StoryRun, steps: z.array(z.unknown()) });
export type BundledStory = z.infer<typeof BundledStory>;

/** A hit with what its claims cite. */
export const BundledEvidence = z.object({ hit: HitDetail, evidence: HitEvidence });
export type BundledEvidence = z.infer<typeof BundledEvidence>;
