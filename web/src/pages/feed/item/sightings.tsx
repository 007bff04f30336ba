import { useQuery } from '@tanstack/react-query';
import { sightingsQuery } from '../../../api/feed.ts';
import { texts } from '../../../texts/feed.ts';
import { Section } from '../../../ui/section.tsx';
import { Sighting } from '../../../ui/evidence/sighting.tsx';
import { Skeleton } from '../../../ui/states.tsx';

/** The rows of the organization's logs that contain an indicator of the item. */
export function Sightings({ id }: { id: string }) {
  const { data, error } = useQuery(sightingsQuery(id));
  return (
    <Section title={texts.sightings} count={data?.sightings.length || undefined}>
      {error ? (
        <p className="text-muted">{error.message}</p>
      ) : !data ? (
        <Skeleton className="h-8" />
      ) : data.sightings.length === 0 ? (
        <p className="text-muted">{texts.noSightings}</p>
      ) : (
        <ul className="flex flex-col text-12">
          {data.sightings.map((sighting, index) => (
            <Sighting key={index} sighting={sighting} showsValue />
          ))}
        </ul>
      )}
      <p className="mt-2 text-12 text-muted">{texts.sightingsNote}</p>
    </Section>
  );
}
