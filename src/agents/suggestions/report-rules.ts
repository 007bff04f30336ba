import { createHash } from 'node:crypto';
import { z } from 'zod';
import { techniquesOf } from '../../detection/sigma/convert/convert-rule.ts';
import { convertForTarget, type ConvertDeps } from '../../detection/sigma/convert/convert-request.ts';
import type { ConvertedRule } from '../../detection/sigma/convert/convert-rules.ts';
import { isDetection, ruleIdOf } from '../../detection/sigma/import-rules.ts';
import type { CorrelationRule, DetectionRule } from '../../detection/sigma/rules/rule.ts';
import { getItemText } from '../../feed/items/get-item.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import { findRules, type ReportRule, ruleTypes } from '../../feed/model/report-rules.ts';
import { findTechnique } from '../../feed/reference-data/attack.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { toProposal, type Proposal } from './draft.ts';

export const ItemRules = z
  .object({
    id: z.string(),
    version: z.int(),
    rules: z.array(
      z.object({
        type: z.enum(ruleTypes).describe('A rule that Snort and Suricata both read is `snort`.'),
        name: z.string().describe('The name, title or message of the rule.'),
        text: z.string(),
        charSpan: z
          .object({ start: z.int(), end: z.int() })
          .describe("Where it stands in the item's text, in UTF-16 code units. `end` is exclusive."),
        problem: z.string().optional().describe('Why no detection can be made of a Sigma rule for your logs.'),
      }),
    ),
  })
  .meta({ id: 'ItemRules' });
export type ItemRules = z.infer<typeof ItemRules>;

/** Returns the rules that the newest text of an item prints. A Sigma rule of which no detection can be made has the reason. */
export async function getItemRules(deps: ConvertDeps, caller: Caller, itemId: string): Promise<ItemRules> {
  const { id, version, text } = await getItemText(deps, caller, itemId, undefined);
  const rules = findRules(text);
  const converted = await convertSigmaRules(deps, caller.orgId, rules);
  return {
    id,
    version,
    rules: rules.map((rule) => {
      const errors = converted.get(rule)?.result.errors ?? [];
      return { ...rule, ...(errors.length > 0 ? { problem: errors.map(({ message }) => message).join('; ') } : {}) };
    }),
  };
}

/**
 * Proposes the Sigma rules of a report as detections for the organization's own logs. What the report says of a rule is shown to people only: judges
 * read the name, the description and the prompt of a detection, and everyone who publishes can write those of a rule.
 */
export async function proposeForRules(
  deps: ConvertDeps,
  orgId: OrgId,
  { item, text }: { item: FeedItem; text: string },
): Promise<Proposal[]> {
  const converted = await convertSigmaRules(deps, orgId, findRules(text));
  return [...converted].flatMap(([{ name }, rule]) => (isDetection(rule) ? proposeRule(item, name, rule) : []));
}

const techniquesMax = 3;

function proposeRule(
  item: FeedItem,
  title: string,
  rule: ConvertedRule & { document: DetectionRule | CorrelationRule },
): Proposal[] {
  const { entity, result, document } = rule;
  if (result.query === null) return [];
  const dataset = result.dataset ?? '';
  const techniques = techniquesOf(document.tags)
    .filter((id) => findTechnique(id) !== undefined)
    .slice(0, techniquesMax);
  const date = item.source.publishTime?.slice(0, 10);
  const origin = `a Sigma rule from a threat report${date === undefined ? '' : ` of ${date}`}`;
  const described = techniques.length > 0 ? ` for ${techniques.join(', ')}` : '';
  const author = document.author === '' ? '' : ` by ${document.author.slice(0, 200)}`;
  const license = document.license === null ? '' : `, license ${document.license.slice(0, 100)},`;
  const proposal = toProposal(
    {
      key: `sigma:${createHash('sha256').update(ruleIdOf(rule)).digest('hex')}`,
      basis: { kind: 'rule', id: ruleIdOf(rule) },
      technique: techniques[0] ?? null,
      reads: dataset,
      body: {
        name: `Seen in ${dataset}: matches of ${origin}${described}`,
        description: `Searches ${dataset} with ${origin}${described}.`,
        detectionCategory: 'custom',
        detectionCadence: 'hourly',
        ...(entity === null ? {} : { entityField: entity }),
        systemPrompt: `The rows match ${origin}${described}. Decide from the rows alone whether they show malicious activity, and whether administration or known software explains them.`,
        detectionQuery: result.query,
        tags: ['sigma', ...techniques.map((id) => `attack.${id.toLowerCase()}`)],
      },
      tests: [],
    },
    item,
    `Runs the Sigma rule “${title}”${author}${license} of`,
  );
  return [proposal];
}

/** Converts the Sigma rules of a report together, because one can refer to another. The map has no other rules. */
async function convertSigmaRules(
  deps: ConvertDeps,
  orgId: OrgId,
  rules: readonly ReportRule[],
): Promise<Map<ReportRule, ConvertedRule>> {
  const sigma = rules.filter(({ type }) => type === 'sigma');
  if (sigma.length === 0) return new Map();
  const together = await convertForTarget(deps, orgId, { rules: sigma.map(({ text }) => text).join('\n---\n') });
  if (together.length === sigma.length) return new Map(sigma.map((rule, index) => [rule, together[index]!]));
  const apart = new Map<ReportRule, ConvertedRule>();
  // Broken YAML can reach beyond the end of a rule.
  for (const rule of sigma) {
    const [one] = await convertForTarget(deps, orgId, { rules: rule.text });
    if (one) apart.set(rule, one);
  }
  return apart;
}
