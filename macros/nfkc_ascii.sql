{#- Compatibility forms of ASCII characters (full-width, circled, parenthesised, mathematical,
    super- and subscript letters, digits, punctuation and spaces) as the plain character: the part
    of Unicode's NFKC that answer parsing needs; DuckDB itself only has NFC. Quotes, backslash and
    characters that expand to several are left alone, but a parenthesised letter gives the letter.
    Invisible characters (zero-width, soft hyphen, byte-order and direction marks) are removed. -#}
{% macro nfkc_ascii(text) -%}
    {%- set pairs = [
        ('\u00a0ª²³¹ºſʰʲʳʷʸˡˢˣ\u037eᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁᵂᵃᵇᵈᵉᵍᵏᵐᵒ',
         ' a231oshjrwylsx;ABDEGHIJKLMNOPRTUWabdegkmo'),
        ('ᵖᵗᵘᵛᵢᵣᵤᵥᶜᶠᶻ\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008',
         'ptuviruvcfz         '),
        ('\u2009\u200a․\u202f\u205f⁰ⁱ⁴⁵⁶⁷⁸⁹⁺⁼⁽⁾ⁿ₀₁₂₃',
         '  .  0i456789+=()n0123'),
        ('₄₅₆₇₈₉₊₌₍₎ₐₑₒₓₕₖₗₘₙₚₛₜℂℊℋℌℍℎℐℑℒℓℕℙℚℛℜℝℤℨ\u212aℬ',
         '456789+=()aeoxhklmnpstCgHHHhIILlNPQRRRZZKB'),
        ('ℭℯℰℱℳℴℹⅅⅆⅇⅈⅉⅠⅤⅩⅬⅭⅮⅯⅰⅴⅹⅼⅽⅾⅿ①②③④⑤⑥⑦⑧⑨⒜⒝⒞⒟⒠⒡⒢',
         'CeEFMoiDdeijIVXLCDMivxlcdm123456789abcdefg'),
        ('⒣⒤⒥⒦⒧⒨⒩⒪⒫⒬⒭⒮⒯⒰⒱⒲⒳⒴⒵ⒶⒷⒸⒹⒺⒻⒼⒽⒾⒿⓀⓁⓂⓃⓄⓅⓆⓇⓈⓉⓊⓋⓌ',
         'hijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW'),
        ('ⓍⓎⓏⓐⓑⓒⓓⓔⓕⓖⓗⓘⓙⓚⓛⓜⓝⓞⓟⓠⓡⓢⓣⓤⓥⓦⓧⓨⓩ⓪ⱼⱽ\u3000ꟲꟳꟴ﬩︐︓︔︕︖',
         'XYZabcdefghijklmnopqrstuvwxyz0jV CFQ+,:;!?'),
        ('︵︶︷︸﹇﹈﹐﹒﹔﹕﹖﹗﹙﹚﹛﹜﹟﹠﹡﹢﹣﹤﹥﹦！＃＆（）＊＋，－．／０１２３４５６',
         '(){}[],.;:?!(){}#&*+-<>=!#&()*+,-./0123456'),
        ('７８９：；＜＝＞？ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［］ａｂｃｄｅ',
         '789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcde'),
        ('ｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｝𐞥𝐀𝐁𝐂𝐃𝐄𝐅𝐆𝐇𝐈𝐉𝐊𝐋𝐌𝐍𝐎𝐏𝐐𝐑',
         'fghijklmnopqrstuvwxyz{}qABCDEFGHIJKLMNOPQR'),
        ('𝐒𝐓𝐔𝐕𝐖𝐗𝐘𝐙𝐚𝐛𝐜𝐝𝐞𝐟𝐠𝐡𝐢𝐣𝐤𝐥𝐦𝐧𝐨𝐩𝐪𝐫𝐬𝐭𝐮𝐯𝐰𝐱𝐲𝐳𝐴𝐵𝐶𝐷𝐸𝐹𝐺𝐻',
         'STUVWXYZabcdefghijklmnopqrstuvwxyzABCDEFGH'),
        ('𝐼𝐽𝐾𝐿𝑀𝑁𝑂𝑃𝑄𝑅𝑆𝑇𝑈𝑉𝑊𝑋𝑌𝑍𝑎𝑏𝑐𝑑𝑒𝑓𝑔𝑖𝑗𝑘𝑙𝑚𝑛𝑜𝑝𝑞𝑟𝑠𝑡𝑢𝑣𝑤𝑥𝑦',
         'IJKLMNOPQRSTUVWXYZabcdefgijklmnopqrstuvwxy'),
        ('𝑧𝑨𝑩𝑪𝑫𝑬𝑭𝑮𝑯𝑰𝑱𝑲𝑳𝑴𝑵𝑶𝑷𝑸𝑹𝑺𝑻𝑼𝑽𝑾𝑿𝒀𝒁𝒂𝒃𝒄𝒅𝒆𝒇𝒈𝒉𝒊𝒋𝒌𝒍𝒎𝒏𝒐',
         'zABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno'),
        ('𝒑𝒒𝒓𝒔𝒕𝒖𝒗𝒘𝒙𝒚𝒛𝒜𝒞𝒟𝒢𝒥𝒦𝒩𝒪𝒫𝒬𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵𝒶𝒷𝒸𝒹𝒻𝒽𝒾𝒿𝓀𝓁𝓂𝓃𝓅',
         'pqrstuvwxyzACDGJKNOPQSTUVWXYZabcdfhijklmnp'),
        ('𝓆𝓇𝓈𝓉𝓊𝓋𝓌𝓍𝓎𝓏𝓐𝓑𝓒𝓓𝓔𝓕𝓖𝓗𝓘𝓙𝓚𝓛𝓜𝓝𝓞𝓟𝓠𝓡𝓢𝓣𝓤𝓥𝓦𝓧𝓨𝓩𝓪𝓫𝓬𝓭𝓮𝓯',
         'qrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZabcdef'),
        ('𝓰𝓱𝓲𝓳𝓴𝓵𝓶𝓷𝓸𝓹𝓺𝓻𝓼𝓽𝓾𝓿𝔀𝔁𝔂𝔃𝔄𝔅𝔇𝔈𝔉𝔊𝔍𝔎𝔏𝔐𝔑𝔒𝔓𝔔𝔖𝔗𝔘𝔙𝔚𝔛𝔜𝔞',
         'ghijklmnopqrstuvwxyzABDEFGJKLMNOPQSTUVWXYa'),
        ('𝔟𝔠𝔡𝔢𝔣𝔤𝔥𝔦𝔧𝔨𝔩𝔪𝔫𝔬𝔭𝔮𝔯𝔰𝔱𝔲𝔳𝔴𝔵𝔶𝔷𝔸𝔹𝔻𝔼𝔽𝔾𝕀𝕁𝕂𝕃𝕄𝕆𝕊𝕋𝕌𝕍𝕎',
         'bcdefghijklmnopqrstuvwxyzABDEFGIJKLMOSTUVW'),
        ('𝕏𝕐𝕒𝕓𝕔𝕕𝕖𝕗𝕘𝕙𝕚𝕛𝕜𝕝𝕞𝕟𝕠𝕡𝕢𝕣𝕤𝕥𝕦𝕧𝕨𝕩𝕪𝕫𝕬𝕭𝕮𝕯𝕰𝕱𝕲𝕳𝕴𝕵𝕶𝕷𝕸𝕹',
         'XYabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN'),
        ('𝕺𝕻𝕼𝕽𝕾𝕿𝖀𝖁𝖂𝖃𝖄𝖅𝖆𝖇𝖈𝖉𝖊𝖋𝖌𝖍𝖎𝖏𝖐𝖑𝖒𝖓𝖔𝖕𝖖𝖗𝖘𝖙𝖚𝖛𝖜𝖝𝖞𝖟𝖠𝖡𝖢𝖣',
         'OPQRSTUVWXYZabcdefghijklmnopqrstuvwxyzABCD'),
        ('𝖤𝖥𝖦𝖧𝖨𝖩𝖪𝖫𝖬𝖭𝖮𝖯𝖰𝖱𝖲𝖳𝖴𝖵𝖶𝖷𝖸𝖹𝖺𝖻𝖼𝖽𝖾𝖿𝗀𝗁𝗂𝗃𝗄𝗅𝗆𝗇𝗈𝗉𝗊𝗋𝗌𝗍',
         'EFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst'),
        ('𝗎𝗏𝗐𝗑𝗒𝗓𝗔𝗕𝗖𝗗𝗘𝗙𝗚𝗛𝗜𝗝𝗞𝗟𝗠𝗡𝗢𝗣𝗤𝗥𝗦𝗧𝗨𝗩𝗪𝗫𝗬𝗭𝗮𝗯𝗰𝗱𝗲𝗳𝗴𝗵𝗶𝗷',
         'uvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij'),
        ('𝗸𝗹𝗺𝗻𝗼𝗽𝗾𝗿𝘀𝘁𝘂𝘃𝘄𝘅𝘆𝘇𝘈𝘉𝘊𝘋𝘌𝘍𝘎𝘏𝘐𝘑𝘒𝘓𝘔𝘕𝘖𝘗𝘘𝘙𝘚𝘛𝘜𝘝𝘞𝘟𝘠𝘡',
         'klmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'),
        ('𝘢𝘣𝘤𝘥𝘦𝘧𝘨𝘩𝘪𝘫𝘬𝘭𝘮𝘯𝘰𝘱𝘲𝘳𝘴𝘵𝘶𝘷𝘸𝘹𝘺𝘻𝘼𝘽𝘾𝘿𝙀𝙁𝙂𝙃𝙄𝙅𝙆𝙇𝙈𝙉𝙊𝙋',
         'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP'),
        ('𝙌𝙍𝙎𝙏𝙐𝙑𝙒𝙓𝙔𝙕𝙖𝙗𝙘𝙙𝙚𝙛𝙜𝙝𝙞𝙟𝙠𝙡𝙢𝙣𝙤𝙥𝙦𝙧𝙨𝙩𝙪𝙫𝙬𝙭𝙮𝙯𝙰𝙱𝙲𝙳𝙴𝙵',
         'QRSTUVWXYZabcdefghijklmnopqrstuvwxyzABCDEF'),
        ('𝙶𝙷𝙸𝙹𝙺𝙻𝙼𝙽𝙾𝙿𝚀𝚁𝚂𝚃𝚄𝚅𝚆𝚇𝚈𝚉𝚊𝚋𝚌𝚍𝚎𝚏𝚐𝚑𝚒𝚓𝚔𝚕𝚖𝚗𝚘𝚙𝚚𝚛𝚜𝚝𝚞𝚟',
         'GHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv'),
        ('𝚠𝚡𝚢𝚣𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡𝟢𝟣𝟤𝟥𝟦𝟧𝟨𝟩𝟪𝟫𝟬𝟭𝟮𝟯𝟰𝟱𝟲𝟳',
         'wxyz01234567890123456789012345678901234567'),
        ('𝟴𝟵𝟶𝟷𝟸𝟹𝟺𝟻𝟼𝟽𝟾𝟿🄐🄑🄒🄓🄔🄕🄖🄗🄘🄙🄚🄛🄜🄝🄞🄟🄠🄡🄢🄣🄤🄥🄦🄧🄨🄩🄫🄬🄰🄱',
         '890123456789ABCDEFGHIJKLMNOPQRSTUVWXYZCRAB'),
        ('🄲🄳🄴🄵🄶🄷🄸🄹🄺🄻🄼🄽🄾🄿🅀🅁🅂🅃🅄🅅🅆🅇🅈🅉🯰🯱🯲🯳🯴🯵🯶🯷🯸🯹', 'CDEFGHIJKLMNOPQRSTUVWXYZ0123456789'),
    ] -%}
{%- set invisible -%} [\x{00AD}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}\x{2066}-\x{2069}\x{FEFF}] {%- endset -%}
case
    -- Most text has none of them, and building the map is what takes the time.
    when regexp_matches(
        {{ text }}, '[{% for pair in pairs %}{{ pair[0] }}{% endfor %}]|{{ invisible }}'
    ) then translate(
        regexp_replace({{ text }}, '{{ invisible }}', '', 'g'),
        '{% for pair in pairs %}{{ pair[0] }}{% endfor %}',
        '{% for pair in pairs %}{{ pair[1] }}{% endfor %}'
    )
    else {{ text }}
end
{%- endmacro %}
