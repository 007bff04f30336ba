const attackers = String.raw`(?:attackers?|(?:threat |malicious |ransomware )?actors?|adversar(?:y|ies)|hackers?|operators?|affiliates?|gangs?|groups?|criminals|cybercriminals|intruders?|campaigns?|botnets?|malware|ransomware|trojan|worm|backdoor|wiper|stealer|hacktivists?|spies|crew|syndicate|unauthori[sz]ed (?:third )?(?:part(?:y|ies)|persons?|individuals?))`;
// A participle after a preposition or an article is an adjective: `with stolen passwords`.
const attackVerbs = String.raw`(?<!\b(?:with|of|from|the|any|all|using|for|their|your|these|those) )(?:target(?:ed|ing|s)|compromis(?:ed|ing)|infect(?:ed|ing|s)|deploy(?:ed|ing|s)|exploit(?:ed|ing|s)|attack(?:ed|ing|s)|breach(?:ed|ing)|hit|struck|stole|stolen|stealing|encrypt(?:ed|ing)|deliver(?:ed|ing|s)|distribut(?:ed|ing|es)|used|leverag(?:ed|ing|es)|abus(?:ed|ing|es)|gained|sent|spread(?:ing|s)?|published|exfiltrat(?:ed|ing)|hijack(?:ed|ing)|impersonat(?:ed|ing|es)|weaponi[sz]ed|launched|claimed|managed to|conduct(?:ed|ing)|employ(?:ed|ing|s)|victimi[sz]ed|defaced|wiped|destroyed|backdoored|trojani[sz]ed|began|continues? to|extort(?:ed|ing)|threaten(?:ing|ed)|engag(?:ed|ing|es)|affected|impacted|disrupt(?:ed|ing|s)|crippl(?:ed|ing)|paraly[sz](?:ed|ing)|shut(?:ting)? down|forc(?:ed|ing)|suffered|fell victim|fallen victim|utili[sz](?:es?|ed|ing)|introduced|injected|planted|implanted|tampered|advertised|sold|offered|uploaded|surfaced|emerged|reset|called|tricked|lured|persuaded|redirected|accessed|obtained|copied|acquired|drained|siphoned|looted|harvested|locked|infiltrated|broke into|knocked)`;
const observers = String.raw`(?:we|researchers?|analysts?|experts?|investigators?|team|labs?|honeypots?|sensors?|cert(?:-\w+)?|cisa|fbi|microsoft|mandiant|telemetry|[Ww]e|\p{Lu}[\p{L}\p{N}-]+(?: (?:Threat|Security|Research|Intelligence|Team|Unit|Labs?|Networks|Group|\d+)){1,5}|(?!(?:The|This|That|These|Those|It|An?|In|On|At|For|With|As|If|When|While|You|Your|Our|Its|Their|There|Each|Some|Most|Many|All|By|From|To|And|But|Or|Not)\b)\p{Lu}[\p{L}\p{N}-]+)`;
const observed = String.raw`(?:observ(?:ed|ing)|discovered|identified|found|detected|uncovered|spotted|seen|saw|sees|track(?:ed|ing|s)|encountered|investigat(?:ed|ing)|noticed|came across|began seeing|responded|attribut(?:ed|es?)|assess(?:ed|es)?|describ(?:ed|es)|analy[sz]ed|clocked|captured|documented|revealed|reported|highlighted|disclosed|unveiled|recorded|logged|registered|confirmed|said|warned|dubbed|called|named)`;

/** A sentence that says who discovered or reported something. */
export const observationCue = new RegExp(String.raw`(?:^|\b)${observers}\b[^!?\n]{0,60}\b${observed}\b`, 'u');

/** A sentence that reports an attack, an operation or its discovery as a fact. */
export const activityCues = [
  new RegExp(String.raw`\b${attackers}\b(?:[^!?\n]{0,70}?)\b${attackVerbs}\b`, 'iu'),
  new RegExp(String.raw`\b(?:was|were|been|being|is|are|has|have|had)\b[^!?\n]{0,40}\b${attackVerbs}\b`, 'iu'),
  new RegExp(
    String.raw`\b(?:was|were|been|is|are|being) (?:[\p{L}-]+ )?(?:${observed}|monitored|linked|believed)\b`,
    'u',
  ),
  new RegExp(String.raw`\b${attackVerbs} by (?:the |an? )?(?:[\p{L}-]+ ){0,2}${attackers}\b`, 'iu'),
  observationCue,
  /\b(?:breach(?:es)?|cyber ?(?:security )?attacks?|intrusions?|hacks?|incidents?)\b[^!?\n]{0,50}\b(?:compromised|exposed|affect(?:ed|ing)|impact(?:ed|ing)|leaked|disrupt(?:ed|ing)|forced|crippled)\b/iu,
  /\b(?:(?:attacks?|compromises?|intrusions?|breach(?:es)?) (?:on|against|targeting|by|at)|thefts? of [^!?\n]{0,60} by|campaigns? (?:targeting|against|aimed at|by)|targeted attacks?|targets|targeting|victims (?:of|in|include)|under attack|zaatakowa\p{L}+|doszło do ataku|angegriffen|cyberangriff)\b/iu,
];

/** Attackers and their actions in the present tense of headlines. In a text, the present tense is about attackers in general. */
export const headlineActivityCue =
  /(?<!\b(?:to|by|from|when|where|how|as|that|which|let|help|for) )\b(?:attackers|actors|hackers|criminals|cybercriminals|operators|groups|gangs|affiliates|spies|scammers|botnets) (?:(?:are|now|again|actively|still) )?(?:exploit|target|deploy|abuse|use|steal|spread|hijack|breach|compromise|infect|attack|distribute|leverage|weaponi[sz]e|backdoor|push|deliver|launch|hit)\b/iu;

/** What an actor does, right after its name: `Foobar sent`. */
export const attackVerbAfterName = new RegExp(String.raw`^[^!?\n]{0,30}?\b${attackVerbs}\b`, 'iu');

/** Vulnerabilities of servers, by the names that their discoverers gave them. */
const namedServerFlaws = String.raw`Log4Shell|Proxy(?:Shell|Logon|NotShell)|ToolShell|CitrixBleed`;
const flaw = String.raw`(?:vulnerabilit(?:y|ies|à|é|és|ad|ades)|kwetsbaarhe(?:id|den)|flaws?|bugs?|defects?|weakness(?:es)?|zero[- ]?days?|0-?days?|n-?days?|CVE-\d{4}-\d+|${namedServerFlaws}|EternalBlue|security holes?|authentication bypass|(?:sql|command|code) injection|remote code execution|deserialization|path traversal|schwachstellen?|sicherheitslücken?)`;

/** What an actor does with a vulnerability, right after its name: `Foobar exploits two flaws`. */
export const exploitationAfterName = new RegExp(String.raw`^[^!?\n]{0,30}?\bexploits? [^!?\n]{0,40}\b${flaw}`, 'iu');

/** A sentence about attackers who use a vulnerability. */
export const exploitationCues = [
  /\b(?:exploit(?:ed|ation)|abused) (?:[\p{L}-]+ ){0,3}in the wild\b|\bin[- ]the[- ]wild exploitation\b/iu,
  /\b(?:add|expand|list|updat)(?:e?s|e?d|ing)?\b[^!?\n]{0,80}\bKnown Exploited Vulnerabilit|\b(?:active(?:ly)?|widespread|wide|mass|massively|broad|ongoing|opportunistic|mass-)[- ]?(?:being )?(?:exploit(?:ed|ing|ation|s)|infections?)\b/iu,
  /\bunder (?:active )?(?:exploitation|attack)\b|\b(?:attackers|hackers|criminals|actors) (?:are|were|have been) (?:\p{L}+ )?(?:attempting|trying) to exploit\b|\bzero[- ]day (?:attacks|exploitation)\b/iu,
  new RegExp(
    String.raw`\b(?:exploit(?:ed|ing)|(?:attackers?|actors?|hackers?|criminals|operators?|gangs?|groups?|botnets?|campaigns?|affiliates) (?:[\p{L}-]+ )?exploits?|exploitation of|exploit of (?=(?:an?|the|this)\b)|exploits (?=(?:an?|the|this|two|three|several|multiple|CVE)\b)|weaponi[sz](?:ed|ing)|(?:hackers|attackers|actors|criminals|groups|gangs) (?:have |are |were )?(?:target(?:ed|ing)|attack(?:ed|ing))|abus(?:ed|ing)|leverag(?:ed|ing)|utili[sz](?:ed|ing)|us(?:ed|ing)(?! to (?:assess|detect|discover|find|fix|identify|patch|report|scan|test)))\b[^!?\n]{0,90}?\b${flaw}|\battacks? (?:targeting|against|exploiting)\b[^!?\n]{0,60}\b${flaw}`,
    'iu',
  ),
  new RegExp(
    String.raw`\b${flaw}[^!?\n]{0,90}?\b(?:(?:was|were|been|being|is|are|be) (?:\w+ ){0,2}(?:exploited|weaponi[sz]ed|abused)|exploited (?:by|in|for|to|against)|attacks?\b)`,
    'iu',
  ),
  new RegExp(
    String.raw`\b(?:breach|infiltrat|compromis|hack|attack|hit|enter|broke|gain)\p{L}* [^!?\n]{0,60}\b(?:via|with|using|through) [^!?\n]{0,40}\b${flaw}`,
    'iu',
  ),
];

/** The cues that say by themselves that it happens. */
export const activeExploitationCues = exploitationCues.slice(0, 3);

/** Software that faces the internet, by kind or by well-known product. */
export const facingCues = new RegExp(
  String.raw`\b(?:internet[- ]facing|public[- ]facing|internet[- ]exposed|exposed to the internet|edge (?:\w+ )?(?:devices?|appliances?)|appliances?|firewalls?|VPNs?|gateways?|web ?servers?|mail servers?|e-?mail security|webmail|file[- ]transfer|load balancers?|routers?|content management|plugins?|CMS|remote (?:access|support|monitoring) (?:software|tool)|enterprise (?:applications?|platforms?|software)|application servers?|Exchange(?: Server)?|SharePoint|Outlook Web|IIS|Citrix|NetScaler|Forti(?:Gate|OS|Web|Manager|Mail|Proxy|Client)\w*|Fortinet|Ivanti|Pulse Secure|Connect Secure|PAN-OS|GlobalProtect|Palo Alto|Cisco|ASA|IOS XE|SonicWall|Barracuda|Zyxel|DrayTek|Juniper|Check Point|Sophos Firewall|BIG-IP|F5|MOVEit|GoAnywhere|Accellion|Cleo|CrushFTP|Serv-U|WS_FTP|Confluence|Jira|Bitbucket|GitLab|Jenkins|TeamCity|Log4[jJ]|${namedServerFlaws}|Struts|Tomcat|ActiveMQ|Apache|WebLogic|Oracle E-Business Suite|Oracle(?:'s|’s)? enterprise|E-Business Suite|PeopleSoft|NetWeaver|SAP|WSUS|Windows Server|WordPress|Elementor|Drupal|Joomla|Magento|Adobe Commerce|ColdFusion|Zimbra|Roundcube|Exim|Horizon|vCenter|ESXi|Kaseya|ConnectWise|ScreenConnect|SimpleHelp|BeyondTrust|TeamViewer|AnyDesk|PaperCut|ManageEngine|Zoho|Aspera|Telerik|Veeam|SolarWinds|Openfire|Redis|Langflow|React|Next\.js|PHP|phpMyAdmin|OpenSSH|Netwrix|Wing FTP|Gladinet|CentreStack|Commvault|Craft CMS|Sitecore|QNAP|Synology)\b`,
);

export const ransomwareCues =
  /\b(?:ransomware|extortion|ransom (?:note|demand|payment)s?|extort(?:ed|ing|ion)?|leak site|raas)\b/i;
export const wiperCues =
  /\b(?:wipers?|(?:data|disk)[- ]wip(?:ing|er)|destructive (?:malware|wiper|attacks?|cyber ?attacks?|operation|wiper)|wiped|(?:malware|virus) that destroys|master boot record|data[- ]destroying|destroy(?:s|ed|ing) (?:[\p{L}-]+ ){0,2}(?:data|systems|computers))\b|(?<!\p{L})\p{Lu}\p{L}+Wiper\b/iu;
export const espionageCues =
  /\b(?:(?:cyber[- ]?)?espionage|spy(?:ing|ware)? (?:on|campaign|operation)|surveillance|intelligence (?:collection|gathering)|data theft|(?:stole|stolen|stealing|steal|theft of|exfiltrat(?:ed|ion of)|copied|obtained|acquired|siphoned|harvested|looted|drained|accessed|compromised) (?:[\p{L}-]+ ){0,4}(?:data|database|information|files|documents|credentials|records|names|emails?|secrets|property|wallets|funds)|(?:data|files|documents|records|information|credentials) (?:\p{L}+ ){0,3}(?:stolen|exfiltrated|leaked|for sale|obtained|accessed|copied|taken)|were stolen|spionage)\b/iu;
/** Victims whose data was stolen. */
export const dataOwnerCues =
  /\b(?:customers?|employees?|patients?|subscribers?|citizens|students?|the company|the (?:firm|maker|operator|retailer|agency))\b/i;
export const actorCues =
  /\b(?:(?:state|nation)[- ](?:sponsored|backed|state|linked|aligned)|\p{L}+[- ](?:linked|backed|aligned|nexus|affiliated) (?:[\p{L}-]+ ){0,2}(?:threat actors?|actors?|hackers|hacking|spies|apt|groups?|espionage|cyber ?espionage|clusters?)\b|government[- ](?:sponsored|backed)|apt(?:s| group| actors?| hackers)?\b|advanced persistent threat|(?:north korean|russian|chinese|iranian|pakistani?|vietnamese|indian|belarusian|dprk|prc)(?:[- ](?:state|government|nexus|speaking|aligned|linked|based|sponsored|backed)){0,3} (?:threat actors?|actors?|hackers|hacking|(?:it )?workers|operatives|spies|apt|group|espionage|cyber ?espionage)|hackergruppe|grupa hakerska)/iu;
export const ransomwareActorCues =
  /\b(?:ransomware|extortion)(?:[- ]as[- ]a[- ]service)? (?:gangs?|groups?|actors?|operators?|affiliates?|operations?|mobs?|crews?|cartels?)\b|\baffiliates? of\b|\b(?:C[lL]0[pP]|Clop|LockBit|BlackCat|ALPHV|Akira|RansomHub|Black Basta|REvil|Conti|Qilin|Medusa ransomware)\b/;
export const malwareCues =
  /\b(?:malware|malicious (?:[\p{L}-]+ ){0,3}(?:code|software|payloads?|packages?|documents?|files?|attachments?|macros?|apps?|applications?|extensions?|plugins?|add-ons|scripts?|campaign)|trojans?|backdoors?|rootkits?|bootkits?|botnets?|worms?|loaders?|downloaders?|droppers?|(?:info|information|credential|password|crypto)[- ]?stealers?|stealers?|keyloggers?|spyware|(?:crypto(?:currency)? ?|coin ?|monero )min(?:ers?|ing)|mineware|cryptojack\w*|remote access (?:trojan|tool)|\brats?\b|web ?shells?|implants?|phishing (?:kits?|campaigns?|pages?|emails?|attacks?|messages?)|phishing-as-a-service|malspam|exploit kit|ransomware|wiper|crypter|command[- ]and[- ]control|c2 (?:server|infrastructure)|infection chain|ddos|typosquat\w*|skimmers?|clipper|banker|banking (?:malware|trojan))\b/iu;
/** Data that its owner exposed. */
export const openDataCues =
  /\b(?:unprotected|unsecured|misconfigured|exposed|open|publicly accessible) (?:[\p{L}\p{N}-]+ ){0,3}(?:databases?|buckets?|servers?|storage|instances?|clusters?|backups?)\b/iu;
/** A sentence that says that attacks happen, without the vulnerability that they use. */
export const observedAttackCues =
  /\b(?:(?:successful|ongoing|attempted) attacks|attacks? (?:were|have been|has been) (?:already )?(?:observed|seen|detected|reported|recorded)|(?:exploitation|exploit) attempts? (?:were|have been|has been|from|since)|seeing (?:exploitation|attacks)|(?:attackers|hackers|criminals|actors)[^!?\n]{0,60}\battack(?:ed|ing)? (?:\p{L}+ ){0,3}(?:systems|servers|computers?|devices|installations))\b/iu;
export const exploitCodeCues =
  /\b(?:proof[- ]of[- ]concept|poc)\b[^!?\n]{0,80}\b(?:exploit|code|published|released|public(?:ly)?|available|circulat\w*|circola)|\b(?:public(?:ly available)?|working|released|published) (?:exploit|exploit code|poc)\b|\bcircola[^!?\n]{0,30}proof of concept/i;
export const supplyChainCues =
  /\b(?:supply[- ]chain (?:attacks?|compromises?|incidents?|breach(?:es)?|hacks?|worms?|campaigns?|ransomware|intrusions?)|(?:compromised|infected|poisoned|backdoored|trojani[sz]ed|hijacked|tampered)(?: [\p{L}+-]+){0,3} (?:packages?|updates?|installers?|releases?|versions?|builds?|librar(?:y|ies)|extensions?|actions?|dependenc(?:y|ies)|dll)|malicious(?: [\p{L}+-]+){0,3} (?:updates?|releases?|versions?|builds?)|compromis(?:ed?|es|ing) [^!?\n]{0,80}(?:update traffic|download (?:site|server)|maintainers?|npm account|publisher account|build (?:server|system|environment)|update (?:server|mechanism|infrastructure)|(?:distribut|deliver)(?:es|ed|ing) [^!?\n]{0,40}(?:updates?|installers?|releases?))|packages?[^!?\n]{0,60}(?:(?:were|was|been|got) (?:[\p{L}-]+ )?(?:compromised|infected|hijacked|poisoned)|backdoored|trojani[sz]ed)|maintainer(?:['’]s)? account[^!?\n]{0,40}(?:compromised|hijacked|taken over|phished)|(?:(?:malware|malicious code|backdoor)[^!?\n]{0,40}(?:introduced|injected|inserted|planted)|(?:adding|added|introduc(?:ed|ing)|inject(?:ed|ing)|insert(?:ed|ing)|plant(?:ed|ing)) (?:malware|malicious code|(?:a )?backdoors?)) (?:in)?to [^!?\n]{0,40}(?:packages?|updates?|librar(?:y|ies)|builds?|installers?|software))\b/iu;
/** Words for software that only pretends to be a product, which compromises nothing of the product itself. */
export const imitationCues =
  /\b(?:spoofed|fake|counterfeit|typosquat\w*|look-?alikes?|masquerad\w+|mimic\w*|impersonat\w+|pos(?:es?|ing) as|pirated|cracked)\b/i;
export const wideUseCues =
  /\b(?:widely[- ]used|widely deployed|(?:most )?popular|most downloaded|(?:million|billion)s? (?:of )?(?:\p{L}+ )?(?:downloads|users|installs|installations|customers)|weekly downloads|downloaded [^!?\n]{0,40}(?:million|billion)|[\d.,]+\+?[MB]\+? (?:weekly )?(?:downloads|installs)|(?:million|billion)s? (?:of )?times|across \d{2,} (?:[\w-]+ )?packages|all (?:its )?customers|downstream customers|(?:software|javascript|python|developer) ecosystem|global customers|1,?\d{3}\+? (?:businesses|companies)|(?:many|dozens of|hundreds of|thousands of|\d{2,}\+?) (?:[\w-]+ ){0,2}packages (?:have been|were) (?:compromised|infected|hijacked|poisoned)|msps|managed service providers|customers worldwide|SolarWinds|3CX|Kaseya|CCleaner|Codecov|MOVEit|XZ Utils|MeDoc|NetSarang|chalk|axios|Ledger|Okta|CircleCI|tj-actions|Salesloft|Trivy|LiteLLM)\b|\bNotepad\+\+/iu;
export const lowCues =
  /\b(?:adware|potentially unwanted|unwanted (?:program|application|software)s?|pups?|scareware|tech(?:nical)? support (?:scam|fraud)\w*|scam(?:s|mers?|ming)?|spam(?:mers?|ming)?|fraudulent (?:[\p{L}-]+ ){0,2}(?:ads|calls|shops?|stores?|websites?|offers|investments?)|fake (?:[\p{L}-]+ )?(?:shops?|stores?|investments?)|fraudsters?|swindl\w+|impost[eo]rs?|pig[- ]butchering|sextortion|hoax(?:es)?|decrypt(?:or|ion tool|er)s?|unlocking encrypted|giveaway|sweepstakes|(?:click|ad|ads|advert(?:ising)?|subscription|billing|toll)[- ]fraud\w*|browser hijack\w*|unwanted ads|affiliate (?:links?|fraud|commissions?)|ad revenue|inject(?:s|ed|ing)? (?:[\p{L}-]+ ){0,3}(?:ads|adverts?|advertisements))\b/iu;
/** Software that only shows ads, counts clicks or earns commissions. */
export const adwareCues =
  /\b(?:adware|potentially unwanted|unwanted (?:program|application|software|ads)s?|browser hijack\w*|affiliate (?:links?|fraud|commissions?)|ad revenue|inject(?:s|ed|ing)? (?:[\p{L}-]+ ){0,3}(?:ads|adverts?|advertisements)|(?:click|ad|ads|advert(?:ising)?|toll|subscription|billing)[- ]fraud\w*)\b/iu;
/** Malware that does more harm than ads. */
export const harmfulMalwareCues =
  /\b(?:ransomware|trojans?|backdoors?|stealers?|wipers?|spyware|botnets?|remote access|(?:steal(?:s|ing)?|stole) (?:[\p{L}-]+ ){0,3}(?:credentials|passwords|cookies|data))\b/iu;
export const decryptorCues =
  /\b(?:free (?:ransomware )?decrypt\w*|decryptors? (?:is|are|was|for|that|released|available|has|helps?)|decrypt(?:ion|or) tools?|(?:releas|publish|shar|hand)(?:ed|es|ing) [^!?\n]{0,40}decryption keys?|no more ransom|files? back for free|recover(?:ing)? (?:their )?(?:encrypted )?(?:files|data) (?:for free|without))\b/i;
/** Words of titles on weaknesses and wrongdoing. */
export const findingTitles =
  /\b(?:attack(?:s|ers?)?|hack(?:s|ed|ers?|ing)?|expos(?:e|es|ed|ing)|leak(?:s|ed|ing|y)?|fraud\w*|breach\w*|abus(?:e|es|ed|ing)|hijack\w*|bypass\w*|spoof\w*|malicious|threat actors?|backdoor\w*|spy\w*)\b/i;
/** A vulnerability that is disclosed or fixed, whatever attackers could do with it. */
export const disclosureCues = new RegExp(
  String.raw`\b${flaw} in [^!?\n]{0,60}\b(?:lets?|allows?|enables?|exposes?|could)\b|\bCVE-\d{4}-(?:\d{4,}|X+)|\b(?:critical|severe|serious|dangerous|new|multiple|several|various|unpatched|unauthenticated|high-severity|medium-severity|\d+) (?:\p{L}+ )?${flaw}|\b${flaw}\b[^!?\n]{0,60}\b(?:discovered|found|disclosed|identified|reported|patched|fixed|addressed|resolved|affect\w*|impact\w*|tracked as|in version)\b|\b(?:discovered|found|disclosed|identified|reported|patch(?:es|ed)?|fix(?:es|ed)?|address(?:es|ed)?|advisor(?:y|ies)|security updates?|demonstrat\w+)\b[^!?\n]{0,80}\b${flaw}|\bvulnerable to (?:\d+|[^!?\n]{0,40}${flaw})|\b\d+ (?:critical|high|medium|moderate|low)[- ]severity issues?\b`,
  'iu',
);
/** Attacks that researchers carry out to win a prize. */
export const contestCues =
  /\b(?:Pwn2Own|CTF|capture[- ]the[- ]flag|bug bount(?:y|ies)|(?:white[- ]hat|ethical) hackers?|hacking (?:contests?|competitions?)|hackathons?)\b/i;
/** A scientific paper. */
export const paperCues =
  /^abstract\b|\bin this (?:paper|study|thesis)\b|\b(?:this|our) (?:paper|study|thesis) (?:presents?|proposes?|introduces?|investigates?|examines?|shows?|aims?|provides?)\b|\bwe (?:propose|introduce|present) (?:an? )?(?:[\p{L}-]+ ){0,3}(?:taxonomy|method\w*|framework|approach|dataset|data set|architecture|model|algorithm|technique|attack)\b/imu;
export const vulnerabilityCues = new RegExp(String.raw`\b(?:${flaw})\b`, 'iu');
export const initialAccessCues =
  /\b(?:initial access (?:broker|facilitator)|(?:lead|leads|led|leading) to (?:[\p{L}-]+ ){0,3}ransomware|(?:tens|hundreds) of thousands (?:of )?(?:[\p{L}-]+ )?(?:messages|emails|systems|computers|infections)|(?:over |more than )?\d{3} thousand|\d{2,3},\d{3} (?:messages|emails|infections|computers)|precursor (?:to|of) ransomware|(?:delivery|deliver|deploy|drop)[^!?\n]{0,50}\bransomware)\b/iu;
export const intrusionCues =
  /\b(?:intrusions?|victim['’]s (?:network|web ?server|environment|domain)|incident response engagements?|domain[- ]wide|domain admin(?:istrator)?|hands[- ]on[- ]keyboard|mov(?:ed?|ing) laterally|lateral movement|compromised (?:networks?|organi[sz]ations?|environments?|tenants?|compan(?:y|ies)))\b/i;
export const victimCues =
  /\b(?:victims?|breaches|(?:confirmed|successful) (?:intrusions|compromises|breaches|attacks)|(?:limited|small|large) number of (?:customers|organi[sz]ations|companies)|compromised (?:by|at|organi[sz]ations|networks|systems|appliances|devices|servers|instances|hosts|sites)|impacted|affected (?:organi[sz]ations|companies|customers)|infected (?:sites|websites|systems|computers)|breached|extortion emails|data theft|customers (?:were|have been)|organi[sz]ations (?:were|have been|operating in|based in))\b/i;

/** Words before a cue that deny it, and words that make it a possibility. */
export const negation =
  /\b(?:no (?:[\p{L}-]+ ){0,2}(?:evidence|indications?|signs?|reports?|proof|exploitation|attacks?|victims?|instances?|cases?|incidents?)|not (?:been |yet |aware|currently |actively |known |confirmed |observed |seen |believed )*(?:exploited|observed|aware|seen|any|confirmed|attacked|detected|known|affected|specified)|(?:has|have|had|is|are|was|were|does|do|did)n[o'’]?t\b[^!?\n]{0,30}\b(?:exploit|observ|see|detect|find|found|affect|confirm|impact)\w*|never been|without (?:any )?(?:evidence|signs)|(?:was|were|been) (?:withdrawn|rejected|debunked)|unaware of|yet to (?:be|see|observe|find|confirm|identify)|neither|none of)\b/iu;
export const hypothesis =
  /\b(?:could|(?<!\d )may(?! (?:the )?\d)|might|would|can|enables?|allows?|lets?|permits?|expos(?:e|es|ing)|at risk|vulnerable to|successful(?= *$| exploit)|potential(?:ly)?|possib(?:le|ly)|if|whether|imagine|suppose|hypothetical(?:ly)?|fictional|theoretical(?:ly)?|in theory|risk of|prevent(?:s|ing)?|protects?(?: against| from)?|defend(?:s|ing)? against|helps?|how to|claims? are true|e\.g\.,?|for example|such as when|in case)\b/iu;

export const advice =
  /^(?:[-*•\d.)\s]*)(?:(?:finally|additionally|also|then|next|first|second|third|lastly|where possible),? )?(?:apply|limit|adopt|audit|segment|rotate|isolate|harden|upgrade|hunt for|look for|search for|back up|subscribe|sign (?:in|up)|follow us|see also|related|read also|use|ensure|enable|disable|implement|review|monitor|block|patch|update|keep|avoid|consider|train|require|restrict|verify|check(?! point\b)|maintain|educate|prioriti[sz]e|enforce|learn|read|download|register|join|contact)\b/iu;

const audience = String.raw`(?:organi[sz]ations|companies|businesses|enterprises|agencies|customers|users|administrators|admins|operators|developers|teams|defenders|firms|hospitals|schools|everyone|anyone)`;
/** Those to whom advice is addressed, who are neither targets nor victims: `urged agencies to patch`, `companies should check`. */
export const adviceAudience = new RegExp(
  String.raw`(?<=\b(?:urg(?:es?|ed|ing)|advis(?:es|ed|ing)|call(?:s|ed|ing)? (?:for|on)|encourag(?:es?|ed|ing)|recommend(?:s|ed|ing)?|order(?:s|ed|ing)?|instruct(?:s|ed|ing)?|direct(?:s|ed|ing)) )[^,.;:!?\n]{1,60}?(?= to \p{Ll})|\b(?:[\p{L}-]+ ){0,3}${audience}(?: and (?:[\p{L}-]+ )?${audience})?(?: (?!who\b|that\b|and\b)[\p{L}'’-]+){0,8}?(?= (?:should|must|need to|ought to|(?:are|is) (?:\p{Ll}+ly )?(?:urged|advised|encouraged|recommended|asked))\b)`,
  'giu',
);

/** Circumstances of an event that are no event of their own: `amid a surge in ransomware attacks`. */
export const circumstances =
  /\bamid (?:(?:a|the|an) )?(?:(?:heightened|growing|rising|increasing|increased|escalating|mounting|ongoing) |surge|rise|increase|wave|concerns?|fears?)[^,.;!?\n]*/giu;

/** Words that make a sentence one about attacks in general, or about an earlier one that the report only compares with. */
export const generality =
  /^(?:(?!(?:Several|Multiple|Many|Some|Two|Three|Four|Five|Our|The|These|Those|All|Both|Most|Its|Their|There|They|We) )\p{Lu}[\p{Ll}-]+ [\p{Ll}-]+(?: [\p{Ll}-]+)? are|an? (?:[\p{Ll}-]+ ){1,3}is|(?:ransomware|phishing|malware|spyware|adware) is) (?!(?:(?:\p{Ll}+ly|once|again|now|still|also|being) ){0,4}\p{Ll}+(?:ing|ed)\b|(?:the |an? )?(?:targets?|victims?) of\b)\b|^(?:an?|the) [^,.]{2,60} (?:describes|refers to|is defined as|means) (?:an?|the|any)\b|^(?:[\p{L}-]+ )?(?:actors|attackers|hackers|(?:cyber ?)?criminals|adversaries|scammers|fraudsters|gangs)(?:, [^.!?\n]{1,80},)? (?:often|frequently|sometimes|regularly|continuously|constantly|routinely)\b|^(?:for (?:example|instance)|historically|in the past|previously|once (?:an?|you|your))\b|\b(?:in the past(?! (?:\p{L}+ |\d+ )?(?:days?|weeks?|months?|hours?)\b)|prior to (?:that|this|then)|before that|(?:in|over) (?:recent|the (?:past|last)(?: few| several)?) (?:years|decades?)|such as with the|more and more|(?:has|have) (?:emerged as one of the (?:[\p{L}-]+ ){1,3}(?:threats?|risks?)|become(?! (?:the (?:latest|newest|next|first|second|third)|a victim|victims?))|evolved)|continues? to evolve|threat landscape|an increase in the number|typically|commonly|generally|nowadays|every (?:day|week|month|year|\d+ seconds)|each (?:day|week|month|year)|on a daily basis|in general)\b/iu;
/** An attack that somebody claims and somebody else disputes. */
export const claimCues =
  /\b(?:claim(?:s|ed|ing)?|alleg\w+|purported\w*|den(?:y|ies|ied|ying)|refut\w+|disput\w+|rumou?rs?)\b/i;
/** What makes ransomware an operation instead of a sample. */
export const operationCues =
  /\b(?:attacks?|campaigns?|affiliates?|operators?|gangs?|groups?|actors?|deployed|raas|ransomware-as-a-service|leak site|organi[sz]ations?|compan(?:y|ies)|incidents?|intrusions?|customers?|double[- ]extortion|victims (?:were|in|include|across|listed))\b/i;
/** What makes a text about a vulnerability one about a certain vulnerability, or research on an attack. */
export const researchCues = new RegExp(
  String.raw`\bCVE-\d{4}-\d+|\b(?:researchers?|academics|we|team|talks?|demos?)\b[^!?\n]{0,40}\b(?:present|demonstrate|show|describe|develop|claim|devise|discover|achieve|build|built|manage|reveal|uncover)(?:ed|s|n|d)?\b[^!?\n]{0,120}\b(?:attacks?|bypass|leak|hack(?:ing|ed|s)?|spoofing|technique|exploit|control of|similar result|hijack\w*|crack\w*|side[- ]channel)|\bhow (?:we|i) (?:broke|hack|bypass|crack|found|exploit|reverse)\w*|\b(?:we|i|talks?|researchers) (?:show|demonstrate)(?:s|d|ed|n)? (?:how|that)\b|\b(?:discovered|found|disclosed|identified|reported|patched|fixed|fixes|addressed|released (?:a )?(?:patch|fix|update))\b[^!?\n]{0,80}\b${flaw}|\b${flaw}[^!?\n]{0,60}\b(?:discovered|found|disclosed|identified|patched|fixed|affects?|affecting|allows?|allowed)\b|\b(?:researchers?|academics|scientists|students|team) (?:\p{L}+ )?(?:bypass|break|broke|crack|hijack|spoof|trick|fool|clone|unlock)(?:s|ed|es)?\b|\b(?:researchers?|academics|scientists) (?:has |have )?(?:found|showed|shown|demonstrated|discovered) (?:that|how|a way)\b|\b(?:DEF ?CON|Black Hat|(?:hacker|security) conference)\b|^(?:breaking|bypassing|attacking|abusing|hacking|defeating)\b`,
  'iu',
);

/** A statement about who the victims of malware are or where they are. */
export const victimologyCues =
  /\b(?:victims?|targets|targeted (?:users|organi[sz]ations|entities|sectors|industries|countries|regions)|infections|infected (?:users|machines|systems|devices)|detections|telemetry|attacks)\b[^!?\n]{0,100}\b(?:in|across|from|located|based|sectors?|industr(?:y|ies)|countries|regions?|against)\b/i;

/** What malware does, in descriptions of its code. */
export const behaviorCues =
  /\b(?:collects|steals|installs|drops|decrypts|loads|executes|downloads|injects|intercepts|captures|exfiltrates|connects to|communicates with|beacons|persists?|establishes|obfuscat\w+|encrypts|spreads|brute-forces|retrieves|scans|starts|mines|targets|creates|modifies|checks|sends|receives|runs|writes|relays|records|abuses|hides|includes|supports|rented|sold|unpacks?|indicators of compromise|iocs|sha-?256|command[- ]and[- ]control|advertised|cost|pay|version \d[\d.]* (?:of the \w+ )?adds)\b/i;
/** Words for attackers and their actions other than malware and exploitation. */
export const attackerCues =
  /\b(?:attackers?|threat actors?|hackers?|cyber ?criminals|intruders|adversar(?:y|ies)|phishing|smishing|vishing|campaigns?|intrusions?|cyber[- ]?(?:security )?(?:attacks?|incidents?)|extort\w*|stole|stolen|breach(?:ed|es)?)\b/i;

/** Words beside lists of indicators. */
export const indicatorCues =
  /\b(?:indicators?(?: of compromise)?|iocs?|c2|c&c|command[- ]and[- ]control|malicious|malware|payloads?|sha-?256|md5)\b/i;

/** Places where criminals trade. */
export const undergroundCues =
  /\b(?:underground (?:forums?|markets?|marketplaces?|economy)|(?:cyber ?crim\w*|criminal|hack\w*) underground|dark ?web (?:forums?|markets?|marketplaces?))\b/i;

/** Words for lures, which pretend to come from somebody else. */
export const lureCues =
  /\b(?:spoof(?:s|ed|ing)|pretend(?:s|ed|ing)?|disguis(?:es|ed|ing)|impersonat(?:es|ed|ing)|masquerad(?:es|ed|ing)|posing as|decoys?|lures?)\b/i;
