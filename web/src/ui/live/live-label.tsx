import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/common.ts';

/** Says whether a list grows as things happen. */
export function LiveLabel({ isLive }: { isLive: boolean }) {
  return (
    <span className="flex items-center gap-1.5 text-12 text-muted" role="status">
      <span className={classes('size-1.5 rounded-full', isLive ? 'bg-good' : 'bg-line-strong')} aria-hidden />
      {isLive ? texts.live : texts.offline}
    </span>
  );
}
