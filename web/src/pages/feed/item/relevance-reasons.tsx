import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { FeedItem } from '../../../api/feed.ts';
import { hasProfile, profileQuery } from '../../../api/relevance.ts';
import { excerptAround } from '../../../lib/excerpt.ts';
import { findMentions } from '../../../lib/passages.ts';
import { toWords } from '../../../lib/text.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts } from '../../../texts/feed.ts';
import { Section } from '../../../ui/section.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { findPassage } from '../item-fields.ts';
import { VerdictLabel } from '../verdict.tsx';

/** Characters of a passage: about three lines. */
const passageMax = 140;

/** A country in a region of the profile is `Norway (Europe)`. */
const regionOfCountry = / \([^()]+\)$/;

const quote = (passage: string, matched: string): string =>
  excerptAround(passage, findMentions(passage, 'matched', matched.replace(regionOfCountry, ''))[0], passageMax);

/** Why an item is relevant to the organization, and who says so. */
export function RelevanceReasons({ item }: { item: FeedItem }) {
  const relevance = item.tenantOverrides?.relevance;
  if (!relevance)
    return (
      <Section title={texts.relevance}>
        <NoVerdict />
      </Section>
    );
  const { verdict, score, reasons, judgedBy, judgedAt } = relevance;
  const { actor, updatedAt } = item.tenantOverrides!;
  // The actor made the last change of the override, which is this judgment if their times agree.
  const judge = judgedBy === 'person' && updatedAt === judgedAt ? actor : undefined;
  return (
    <Section title={texts.relevance}>
      <p className="flex flex-wrap items-center gap-x-2">
        <VerdictLabel verdict={verdict} />
        <span className="text-muted">
          {judge === undefined ? (texts.judgedBy[judgedBy] ?? judgedBy) : common.by(judge)}
          {judgedBy !== 'person' && `, ${texts.score(score)}`}, <RelativeTime time={judgedAt} />
        </span>
      </p>
      {reasons.length > 0 && (
        <ul className="flex flex-col gap-2">
          {reasons.map(({ kind, matched, weight, evidenceRef, requirement }, index) => {
            const passage = findPassage(item, evidenceRef);
            return (
              <li key={index} className="grid grid-cols-[5.5rem_1fr_auto] items-baseline gap-x-3">
                <span className="text-muted">{kind === 'person' ? texts.reasonLabel : toWords(kind)}</span>
                <span className="min-w-0 break-words">
                  {matched}
                  {requirement && (
                    <Link to="/feed" search={{ requirement }} className="block text-12 text-muted hover:underline">
                      {requirement}
                    </Link>
                  )}
                  {passage && <q className="block text-12 text-muted">{quote(passage.text, matched)}</q>}
                </span>
                {kind !== 'person' && !requirement && (
                  <span className="tabular text-12 text-faint">{Math.round(weight * 100)} %</span>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </Section>
  );
}

/** Explains why an item has no verdict: the organization has no profile, or the item matches nothing in it. */
function NoVerdict() {
  const { data: profile } = useQuery(profileQuery);
  useJudgedItems(profile?.rebuilding ?? false);
  if (!profile) return <Skeleton className="h-5 w-1/2" />;
  if (hasProfile(profile)) return <p className="text-muted">{profile.rebuilding ? texts.judging : texts.noReason}</p>;
  return (
    <p className="text-muted">
      {texts.noProfile}{' '}
      <Link to="/settings/relevance" className="text-accent underline">
        {texts.addProfile}
      </Link>
    </p>
  );
}

/** Reads the feed again once all items are judged by a changed profile. */
function useJudgedItems(isRebuilding: boolean): void {
  const client = useQueryClient();
  const wasRebuilding = useRef(isRebuilding);
  useEffect(() => {
    if (wasRebuilding.current && !isRebuilding) void client.invalidateQueries({ queryKey: ['feed'] });
    wasRebuilding.current = isRebuilding;
  }, [client, isRebuilding]);
}
