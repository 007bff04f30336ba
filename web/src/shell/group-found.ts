import { linkOptions, type NavigateOptions } from '@tanstack/react-router';
import type { FoundRecords } from '../api/found.ts';
import { texts } from '../texts/common.ts';
import { texts as entityTexts } from '../texts/entities.ts';
import { texts as hitTexts } from '../texts/hits.ts';

type FoundGroup = { heading: string; entries: { id: string; label: string; to: NavigateOptions }[] };

/** Groups the records that a search found by their type. Leaves out empty groups. */
export const groupFound = ({ detections, incidents, hits, hitEntities, entities, items }: FoundRecords): FoundGroup[] =>
  [
    {
      heading: texts.found.detections,
      entries: detections.map(({ id, name }) => ({
        id,
        label: name,
        to: linkOptions({ to: '/detections/$id', params: { id } }),
      })),
    },
    {
      heading: texts.found.incidents,
      entries: incidents.map(({ id, title }) => ({
        id,
        label: title,
        to: linkOptions({ to: '/incidents/$id', params: { id } }),
      })),
    },
    {
      heading: texts.found.hits,
      entries: hits.map(({ id, headline }) => ({
        id,
        label: headline,
        to: linkOptions({ to: '/hits/$id', params: { id } }),
      })),
    },
    {
      heading: texts.found.hitEntities,
      entries: hitEntities.map(({ entity: name, entityType: type }) => ({
        id: `entity ${type} ${name}`,
        label: `${name} (${hitTexts.profile.types[type].toLowerCase()})`,
        to: linkOptions({ to: '/hits/entity', search: { type, name } }),
      })),
    },
    {
      heading: texts.found.entities,
      entries: entities.map(({ type, name }) => ({
        id: `${type} ${name}`,
        label: `${name} (${entityTexts.types[type].toLowerCase()})`,
        to: linkOptions({ to: '/entities', search: { kind: type, name } }),
      })),
    },
    {
      heading: texts.found.items,
      entries: items.map(({ id, event }) => ({
        id,
        label: event.title,
        to: linkOptions({ to: '/feed/$id', params: { id } }),
      })),
    },
  ].filter(({ entries }) => entries.length > 0);
